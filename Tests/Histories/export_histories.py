#!/usr/bin/env python3
"""Runs seeds of the executable specification and writes each run down as a history that an implementation can be driven with.

Every run is judged by the oracles while it is recorded, and read back from its text: a broken seed ends the tool with
status 1. README.md describes the files.

    export_histories.py export --count 2000 [--first 0]    Fixtures/histories-NN.txt, a hundred seeds a file
    export_histories.py check --count 5000 [--first 0]     the same runs, judged and not written
    export_histories.py wrong                              Fixtures/wrong.txt: how wrong variants of the specification differ
    export_histories.py tell --first 7                     one seed as JSON, an object an event
"""
import argparse
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
A_FILE = 100                            # histories


def arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('verb', choices=('export', 'check', 'wrong', 'tell'))
    ap.add_argument('--count', type=int, default=2000)
    ap.add_argument('--first', type=int, default=0, help='first seed')
    ap.add_argument('--only', default='', help='wrong: these variants, comma separated')
    ap.add_argument('--model', default=os.path.join(ROOT, '..', 'shared', 'model'), help='folder of the specification')
    ap.add_argument('--out', default=os.path.join(HERE, 'Fixtures'))
    return ap.parse_args()


ARGS = arguments()                      # before the imports, since it says where they come from
sys.dont_write_bytecode = True          # the folder of the specification stays as it is
sys.path.insert(0, ARGS.model)
import history_recording as recording   # noqa: E402
import history_text as text             # noqa: E402
from wrong_variants import twins        # noqa: E402


def recorded(seed):
    try:
        return recording.record(seed)
    except recording.W.Broken as e:
        sys.exit('seed %d is broken: %s' % (seed, str(e)[:600]))


def spelled(events):
    """The text of a history, once it has been read back and found to say the same."""
    lines = text.Writer(events).out
    if text.Reader(lines).out != json.loads(json.dumps(events)):
        sys.exit('seed %d: the text does not say what happened' % events[0]['seed'])
    return ''.join(line + '\n' for line in lines)


def write(name, content):
    os.makedirs(ARGS.out, exist_ok=True)
    with open(os.path.join(ARGS.out, name), 'w', encoding='utf-8', newline='\n') as f:
        f.write(content)


def export():
    start, size, events = time.time(), 0, 0
    for first in range(ARGS.first, ARGS.first + ARGS.count, A_FILE):
        content = ''
        for seed in range(first, min(first + A_FILE, ARGS.first + ARGS.count)):
            history = recorded(seed)
            events += len(history) - 1
            content += spelled(history)
        write('histories-%02d.txt' % (first // A_FILE), content)
        size += len(content)
    print('%d histories from seed %d, %d events, %.1f MB, %.0f s' % (ARGS.count, ARGS.first, events, size / 1e6, time.time() - start))


def main():
    if ARGS.verb == 'export':
        export()
    elif ARGS.verb == 'check':
        for seed in range(ARGS.first, ARGS.first + ARGS.count):
            recorded(seed)
        print('%d seeds from %d, broken: none' % (ARGS.count, ARGS.first))
    elif ARGS.verb == 'tell':
        for event in recorded(ARGS.first):
            print(json.dumps(event, separators=(',', ':')))
    else:
        content = ''
        for variant, right, wrong in twins(ARGS.only.split(',') if ARGS.only else None):
            content += '* %s right\n%s* %s wrong\n%s' % (variant, spelled(right), variant, spelled(wrong))
        write('wrong.txt', content)


if __name__ == '__main__':
    main()
