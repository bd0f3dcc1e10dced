"""What the wrong variants of the specification show that the right one does not: for each a pair of short histories that
differ in their last event, and there only in what is seen, not in what is done."""
import sys

from history_recording import W, first_difference, record

SEEDS = 1000
UNSEEN = {'answer_is_final'}            # it changes what a device offers next, which histories tell and do not compare


def shortest(seed, variant, taken, heals):
    """With as many steps left out as the difference allows."""
    def shown(steps):
        return first_difference(record(seed, steps, heals), seed, steps, variant, heals)
    steps = W.World(seed).steps[:taken]
    size = len(steps)
    while size:
        at = 0
        while at < len(steps):
            fewer = steps[:at] + steps[at + size:]
            if shown(fewer):
                steps = fewer
            else:
                at += size
        size //= 2
    return shown(steps)


def search(variants):
    """The first seed that shows each variant, the steps that it takes, and whether it needs the healing at the end."""
    found = {}
    for seed in range(SEEDS):
        wanted = [variant for variant in variants if variant not in found]
        right = record(seed) if wanted else None
        for variant in wanted:
            split = first_difference(right, seed, None, variant)
            if split:
                found[variant] = seed, *split[2:]
    return found


def twins(only=None):
    variants = only or sorted({**W.PLANTED, **W.AS_WRITTEN}.keys() - UNSEEN)
    found = search(variants)
    for variant in variants:
        if variant not in found:
            print('%s: no seed below %d shows it' % (variant, SEEDS), file=sys.stderr, flush=True)
            continue
        right, last, *_ = shortest(found[variant][0], variant, *found[variant][1:])
        print('%-22s seed %4d, %3d events' % (variant, found[variant][0], len(right) - 1), file=sys.stderr, flush=True)
        yield variant, right, right[:-1] + [last]
