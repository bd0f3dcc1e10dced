"""The executable specification as it is recorded: what an implementation can be driven with, event by event.

The specification (skerry_model, skerry_world, skerry_oracle) must be importable and is never changed; what is done otherwise
than its text says is in the subclasses below, which take the places of the originals.
"""
import skerry_model as M
import skerry_world as W

from history_state import COLUMNS

SEEN = ('verdicts', 'page', 'runs', 'server', 'devices', 'fits', 'minted', 'after')      # of an event; the rest is done
RANK = {'lean': 0, 'open': 1, 'close': 2}


# ------------------------------------------------------------------------------------------------------ operations
def known_columns(op):
    """A real table has no place for a field it does not declare, so the specification must not see one either."""
    at = {'insert': 2, 'set': 3}.get(op[0])
    if at is None:
        return op
    return op[:at] + (tuple((c, v) for c, v in op[at] if c in COLUMNS[op[1][0]]),) + op[at + 1:]


def roles_of(view, mid, ops):
    """What a mutation is to the rows and team spaces around it. Judged step by step on the author's screen, since an
    operation may stand on what the one before it made."""
    rows, roles = dict(view), {}

    def mark(subject, role):
        if RANK[role] > RANK.get(roles.get(subject), -1):
            roles[subject] = role

    for i, op in enumerate(ops):
        key, role = op[1], 'open' if op[0] == 'insert' else 'close'
        sides = [(rows.get(key), M.spaces_of(rows, key))]
        M.fold(rows, op, mid, i)
        sides.append((rows.get(key), M.spaces_of(rows, key)))
        mark(key, role)
        if key[0] == 'team':
            mark(('space', 'team:' + key[1]), role)
        for row, spaces in sides:
            if row and key[0] == 'member':
                mark(('space', 'team:' + row.f['team']), role)
            if row and key[0] in M.PARENT:
                mark((M.PARENT[key[0]], row.f['parent']), 'lean')
            for space in spaces:
                if space.startswith('team:'):
                    mark(('space', space), 'lean')
    return roles


# --------------------------------------------------------------------------------------- in place of the originals
class Queued(M.Queued):
    """The roles belong to the entry: they follow it into clones, into the archive and back."""

    def __init__(self, mid, n, ops):
        super().__init__(mid, n, ops)
        self.roles = {}

    def copy(self):
        new = super().copy()
        new.roles = self.roles
        return new


class Replica(M.Replica):
    @property
    def world(self):
        return self.oracle.world

    def write(self, mid, ops):
        roles = roles_of(self.view(), mid, ops)
        super().write(mid, ops)
        self.outbox[-1].roles = roles
        self.world.note(do='write', device=self.name, mid=mid, ops=[spell_op(op) for op in ops])

    def coalesce(self, q, ops, mid):
        old, refused = q.mid, q.sent
        super().coalesce(q, ops, mid)
        if not refused:
            q.roles = roles_of(self.view_without(q), mid, ops)
        self.world.note(do='coalesce', device=self.name, mid=old, **{'as': mid}, ops=[spell_op(op) for op in ops],
                        **({'refused': True} if refused else {}))

    def view_without(self, q):
        outbox = self.outbox
        self.outbox = [x for x in outbox if x is not q]
        try:
            return self.view()
        finally:
            self.outbox = outbox

    def discard(self, q):
        super().discard(q)
        self.world.note(do='discard', device=self.name, mid=q.mid)

    def offer(self, wanted):
        return [m._replace(after=self.predecessors(q)) for q, m in zip(wanted, super().offer(wanted))]

    def predecessors(self, q):
        """The nearest entry that opened or closed a subject stands for all before it, since it named them in its turn. Only
        entries that merely lean do not name each other, so whoever closes a subject names each that leaned on it since the
        last close."""
        earlier, found = self.outbox[:self.outbox.index(q)], set()
        for subject, role in q.roles.items():
            was = [p.roles.get(subject) for p in earlier]
            found.update([i for i, r in enumerate(was) if r in ('open', 'close')][-1:])
            if role == 'close':
                shut = max((i for i, r in enumerate(was) if r == 'close'), default=-1)
                found.update(i for i, r in enumerate(was) if r == 'lean' and i > shut)
        return tuple((earlier[i].mid, earlier[i].n) for i in sorted(found))

    def remint(self, new_id):
        super().remint(new_id)
        self.world.reminted = new_id

    def crash(self):
        super().crash()
        self.world.note(do='crash', device=self.name)

    def copy(self, name):
        self.world.copied = self.name, name
        return super().copy(name)


class Server(M.Server):
    @property
    def world(self):
        return self.oracle.world

    def end(self, txn, commit):
        writes = self.final(txn) if commit else []
        super().end(txn, commit)
        if writes:
            self.world.note(do='foreign', txn=txn.tag, writes=writes)

    def final(self, txn):
        """The last state of each row, in the order of the last captures."""
        last, out = {}, []
        for number, key in txn.captures.items():
            last[key] = max(number, last.get(key, 0))
        for key in sorted(last, key=last.get):
            old, new = self.db.rows.get(key), txn.writes[key]
            how = ('delete' if old else 'none') if new is None else 'insert' if old is None else \
                'update' if old.inc == new.inc else 'replace'
            out.append([*key, new and spell_fields(key, new.f), how])
        return out

    def sequence(self):
        head = self.db.head
        super().sequence()
        steps = [(at, ['member', user, space, inside]) for (user, space), (at, inside) in self.db.member.items() if at > head]
        steps += [(e.pos, [e.kind, space, *key]) for (space, key), e in self.db.log.items() if e.pos > head]
        self.world.sequenced([step for _, step in sorted(steps)])

    def push(self, user, rid, batch, cursor, settled):
        batch = [m._replace(ops=tuple(known_columns(op) for op in m.ops)) for m in batch]
        rows = {op[1] for m in batch if not m.void for op in m.ops}
        seen = {'locked': sorted(k for k in rows if self.locked(k))}
        verdicts = super().push(user, rid, batch, cursor, settled)
        seen['verdicts'] = [list(v) for v in verdicts]
        if self.world.frame is None:                # nobody sent it: the attacker calls the server itself
            m, = batch
            self.world.note(do='attackPush', user=user, replica=rid, n=m.n, mid=m.mid, ops=[spell_op(op) for op in m.ops], **seen)
        else:
            self.world.frame.update(seen, sequenced=False)
        return verdicts

    def push_one(self, user, rid, m):
        """The right to what a row was comes before any rule, or a refusal's code would tell what the row holds. An operation
        that names another life of the row is `gone` to everybody."""
        rights = {'user:' + user} | {s for u, s in M.members(self.db.rows) if u == user}

        def may(op):
            row = self.db.rows.get(op[1])
            return op[0] == 'insert' or row is None or op[2] != row.inc or M.spaces_of(self.db.rows, op[1]) & rights

        fold = M.fold
        if not m.void and not all(map(may, m.ops)):
            M.fold = lambda *_: 'forbidden'
        try:
            return super().push_one(user, rid, m)
        finally:
            M.fold = fold

    def pull(self, user, owner, cur, settled, limit):
        """A real server with nothing to sequence has no run to be busy with, and reads its page in one transaction with
        nothing between. So `busy` and `between` are only asked (the draw for `busy` stays) when captures were waiting."""
        world, waiting, real = self.world, bool(self.db.captures), (self.busy, self.between)
        forged = world.frame is None
        frame = world.frame = {'busy': False, 'between': []} if forged else world.frame
        frame.update(busy=False, between=[])
        victim = world.picked if forged else None   # before `between` picks other things

        def busy():
            frame['busy'] = real[0]() and waiting
            return frame['busy']

        self.busy, self.between = busy, real[1] if waiting else lambda: None
        try:
            got = super().pull(user, owner, cur, settled, limit)
        finally:
            self.busy, self.between = real
        frame['page'] = spell_answer(got)
        frame.pop('sequenced', None)                # `busy` says it
        if forged:
            world.frame = None
            world.note(do='attackPull', user=user, replica=owner[-1], cursorOf=victim.name, open=[x[0] for x in cur.open],
                       limit=limit, **frame)
        return got

    def expire(self, upto):
        super().expire(upto)
        self.world.note(do='expire', upto=upto)

    def take_backup(self):
        super().take_backup()
        self.world.note(do='backup')

    def lose_tail(self, epoch=None):
        super().lose_tail(epoch)
        self.world.note(do='tail', epoch=epoch)


class Oracle(W.Oracle):
    """The oracles as they are, and a way from device and server to the recording world."""
    world = None

    def on_reset(self, dev):
        super().on_reset(dev)
        self.world.applied = True


class Silent(Oracle):
    """Judges nothing: for worlds that are wrong on purpose."""

    def on_device(self, *_):
        pass

    on_push = on_page = on_put = on_deleted = on_gone = on_consistent = at_end = on_device


M.Queued, M.Replica, M.Server = Queued, Replica, Server


# --------------------------------------------------------------------------------------------------------- spelling
def spell(column, value):
    """`n` is the counter; all other columns are text in an implementation."""
    return value if value is None or column == 'n' else str(value)


def spell_tag(text):
    """A version or incarnation. What a foreign transaction leaves of a row is one version here, named by the transaction."""
    return text.split('.')[0] if text and text[0] == 'x' else text


def spell_fields(key, fields):
    return {c: spell(c, fields.get(c)) for c in COLUMNS[key[0]]}


def spell_row(key, row):
    return {**spell_fields(key, row.f), 'ver': spell_tag(row.ver[1]), 'inc': spell_tag(row.inc)}


def spell_op(op):
    kind, key = op[:2]
    if kind == 'insert':
        return [kind, *key, spell_fields(key, dict(op[2]))]
    if kind == 'set':
        return [kind, *key, spell_tag(op[2]), {c: spell(c, v) for c, v in op[3]}, spell_tag(op[4])]
    return [kind, *key, spell_tag(op[2]), *op[3:]]


def spell_item(item):
    kind, space = item[:2]
    if len(item) == 2:
        return [kind, space]
    return [kind, space, *item[2]] + ([list(item[3])] if kind == 'left' else [])


def spell_answer(got):
    if got is None:
        return None
    if isinstance(got, M.Reset):
        return {'reset': got.why, 'spaces': list(got.spaces)}
    return {'closes': got.closes, 'items': [spell_item(it) for it in got.items], 'open': [x[0] for x in got.cursor.open]}


def spell_queued(q):
    return [q.mid, q.n, q.void, q.sent, q.dormant]


# -------------------------------------------------------------------------------------------------------- recording
EMPTY = {'screen': {}, 'outbox': [], 'inbox': [], 'staged': 0, 'archive': []}


class Recording(W.World):
    def __init__(self, seed, recorded):
        super().__init__(seed)
        self.lines = [] if recorded else None
        self.watch, self.heals = None, True     # stop at the first event that is otherwise here, or before the end's healing
        self.frame = None               # what is being found out about the request that the server is at, if any
        self.runs, self.rows, self.shown = [], {}, {}
        self.messages = {}              # identity of a message -> (its number, the message: keeps the identity taken)
        self.devices = []

    def run(self, *args, **kw):
        def oracle():
            self.oracle = Silent() if M.WRONG else Oracle()
            self.oracle.world = self
            return self.oracle
        plain, W.Oracle = W.Oracle, oracle
        try:
            if self.lines is not None:
                self.lines.append({'seed': self.seed, 'limit': self.limit, 'bound': self.bound, 'devices': [
                    ['r%d' % i, user] for i, user in enumerate(self.owners)], 'faults': sorted(self.faults)})
            super().run(*args, **kw)
        finally:
            W.Oracle = plain

    # -- events
    def note(self, **event):
        """One event, with what it changed. Inside a request it is a part of that request's event, which has the changes."""
        if self.frame is not None:
            self.frame['between'].append(event)
            return
        runs, self.runs = self.runs, []
        if self.lines is None:
            return
        if runs:
            event['runs'] = runs
        self.lines.append({**event, **self.changes()})
        if self.watch and self.lines[-1] != self.watch[min(len(self.lines), len(self.watch)) - 1]:
            raise Enough

    def sequenced(self, steps):
        if steps:
            self.runs.append(steps)
        if self.frame is None:
            self.note(do='sequence')
        else:
            self.frame['sequenced'] = True

    def changes(self):
        out, rows, devices = {}, dict(self.server.db.rows), {}
        server = self.row_changes(self.rows, rows)
        self.rows = rows
        for d in self.devices:
            now = {'screen': d.view(), 'outbox': [spell_queued(q) for q in d.outbox],
                   'inbox': sorted([m, v[0], v[1]] for m, v in d.inbox.items()), 'staged': len(d.stage), 'ids': list(d.ids),
                   'archive': sorted(d.archive)}
            was = self.shown.get(d.name) or {**EMPTY, 'ids': [d.name]}
            self.shown[d.name] = now
            screen = self.row_changes(was['screen'], now['screen'])
            changed = {'screen': screen} if screen else {}
            changed.update((k, v) for k, v in now.items() if k != 'screen' and v != was[k])
            if changed:
                devices[d.name] = changed
        if server:
            out['server'] = server
        if devices:
            out['devices'] = devices
        return out

    @staticmethod
    def row_changes(was, now):
        def face(row):                  # not the position and not the oracles' ink, which no implementation has
            return row.f, row.ver[1], row.inc
        out = {k: None for k in was if k not in now}
        for k, row in now.items():
            if k not in was or (row is not was[k] and face(row) != face(was[k])):
                out[k] = spell_row(k, row)
        return {'/'.join(k): out[k] for k in sorted(out)}

    # -- what the world does, and its network
    def heal(self):
        self.healed = True
        if not self.heals:
            raise Enough
        super().heal()

    def one(self, *args):
        return [op and known_columns(op) for op in super().one(*args)]

    def pick(self, seq):
        self.picked = super().pick(seq)
        return self.picked

    def number(self, message):
        return self.messages.setdefault(id(message), (len(self.messages) + 1, message))[0]

    def post(self, message):
        super().post(message)
        number, name = self.number(message), message[1]
        if message[0] == 'push':
            batch = message[3]
            self.note(do='offer', device=name, mids=[m.mid for m in batch], message=number,
                      after={m.mid: [p[0] for p in m.after] for m in batch})
        elif message[0] == 'pull':
            self.note(do='ask', device=name, message=number)

    def hand(self, message):
        number, name = self.number(message), message[1]
        if message[0] in ('push', 'pull'):
            self.frame = {}
            super().hand(message)
            frame, self.frame = self.frame, None
            self.note(do='serve', message=number, answer=self.number(self.net[-1]), **frame)
            return
        device = next(d for d in self.devices if d.name == name)
        clock, self.applied, self.reminted = device.clock, False, None
        super().hand(message)
        event = {'do': 'receive', 'message': number, 'device': name}
        if message[0] == 'page':                    # a page that applies moves the clock, a reset that applies tells the oracle
            event['fits'] = self.applied if isinstance(message[4], M.Reset) else device.clock != clock
        elif self.reminted:
            event['minted'] = self.reminted
        self.note(**event)

    def do_clone(self, rng):
        self.copied = None
        super().do_clone(rng)
        if self.copied:
            self.note(do='clone', device=self.copied[0], **{'as': self.copied[1]})

    def do_image(self, rng):
        super().do_image(rng)
        self.note(do='image', device=self.copied[0])

    def do_old(self, rng):
        self.copied = None
        super().do_old(rng)
        if self.copied:
            self.note(do='restore', device=self.copied[0])



class Enough(Exception):
    """The recording has what was wanted of it."""


def record(seed, steps=None, heals=True):
    """The events of a seed, all judged by the oracles.

    - Raises: W.Broken, if an oracle breaks.
    """
    world = Recording(seed, True)
    world.heals = heals
    try:
        world.run(steps)
    except Enough:
        pass
    return world.lines


def first_difference(right, seed, steps, variant, heals=True):
    """The first event that is otherwise under a wrong variant than in the right events of these steps: the right events up to
    it, the wrong one, the number of steps taken, and whether the healing at the end was needed. None if there is none, or if
    it is the world that then does something else.

    No oracle judges the wrong run: what is wanted is what an implementation with that mistake would show."""
    wrong = Recording(seed, True)
    wrong.heals, wrong.watch = heals, right
    M.WRONG.add(variant)
    try:
        wrong.run(steps)
    except Enough:
        pass
    except W.Broken:                    # the world itself notices
        return None
    finally:
        M.WRONG.clear()
    here = right[:len(wrong.lines)]
    done = [{k: v for k, v in event.items() if k not in SEEN} for event in (here[-1], wrong.lines[-1])]
    if here[-1] == wrong.lines[-1] or done[0] != done[1]:
        return None
    return here, wrong.lines[-1], getattr(wrong, 'at', -1) + 1, hasattr(wrong, 'healed')
