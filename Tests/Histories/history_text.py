#!/usr/bin/env python3
"""The text form of histories: events to lines and back. README.md describes the form.

    history_text.py Fixtures/histories-03.txt 312       history 312 of that file, one JSON object an event
"""
import json
import re
import sys

sys.dont_write_bytecode = True          # nothing is left beside the fixtures
from history_names import Names                     # noqa: E402
from history_state import State, fold_one           # noqa: E402

OUTCOMES = {'c': 'confirmed', 'r': 'rejected', 'x': 'conflicted', 'v': 'void'}
WORDS = {'n': 'notYet', 'b': 'busy', 'i': 'identityReused', 'h': 'history', 'f': 'forbidden'}
STEPS = {'+': 'live', '/': 'left', '-': 'deleted'}
ITEMS = {'+': 'put', '/': 'left', '-': 'deleted', '>': 'gain', '<': 'lose', '=': 'filled'}
WRITES = {'+': 'insert', '=': 'update', '-': 'delete', '!': 'replace', '?': 'none'}
OPS = {'+': 'insert', '=': 'set', '%': 'add', '-': 'delete'}
VERBS = {'W': 'write', 'D': 'discard', 'C': 'coalesce', 'O': 'offer', 'A': 'ask', 'S': 'serve', 'R': 'receive', 'K': 'crash',
         'I': 'image', 'V': 'restore', 'N': 'clone', 'Q': 'sequence', 'E': 'expire', 'B': 'backup', 'T': 'tail', 'F': 'foreign',
         'X': 'attackPush', 'Y': 'attackPull'}
NOTHING = {'screen': {}, 'outbox': [], 'inbox': [], 'staged': 0, 'ids': [], 'archive': []}
REF = r'(?:[rce]\d+(?:~\d+)?|[a-z]\d+)'
ITEM = re.compile(r'(?:([-+/<>=])(%s))?(%s)?(?:\((.*)\))?$' % (REF, REF))
ROW = re.compile(r'(\W?)(%s)(?:@("[^"]*"|[mx]\d+(?::\d+)?))?(?:\^("[^"]*"|[mx]\d+))?$' % REF)


def letter(table, value):
    return next(key for key, known in table.items() if known == value)


class Form:
    """What writing and reading share: the names of a history and how it stands so far."""

    def __init__(self, names, devices):
        self.names, self.state = names, State(devices)

    def rows_met(self, e):
        """The rows as their author sees them: operations tell the life and version that they mean only where these are not
        what the author saw."""
        return dict(self.state.rows if e['do'] == 'attackPush' else self.state.devices[e['device']].screen)


class Writer(Form):
    def __init__(self, lines):
        head = lines[0]
        super().__init__(Names.of(lines), head['devices'])
        self.out = [' '.join(['=', str(head['seed']), str(head['limit']), str(head['bound']), ','.join(head['faults']) or '-'] +
                             [user for _, user in head['devices']]), *self.names.lines()]
        self.rows = dict(self.state.rows)                                           # as the events say they are
        self.told = {}
        for e in lines[1:]:
            self.event(e)

    def event(self, e):
        for inner in e.get('between', ()):
            self.out.append('~' + ' '.join(self.spell_foreign(inner)))
        tokens = getattr(self, 'spell_' + e['do'], self.spell_plain)(e)
        for run in e.get('runs', ()):
            tokens += ['#'] + self.items(run, STEPS)
        tokens += self.changes(e)
        self.out.append(' '.join(tokens))

    # -- events
    def spell_plain(self, e):
        return [letter(VERBS, e['do'])] + [str(e[k]) for k in ('device', 'as', 'upto') if k in e]

    def spell_tail(self, e):
        return ['T', *([e['epoch']] if e['epoch'] else [])]

    def spell_write(self, e):
        return ['W', e['device'], self.names.mid(e['mid'])] + self.ops(e, e['mid'])

    def spell_coalesce(self, e):
        return ['C!' if e.get('refused') else 'C', e['device'], self.names.mid(e['mid']), self.names.mid(e['as'])] + \
            self.ops(e, e['as'])

    def spell_discard(self, e):
        return ['D', e['device'], self.names.mid(e['mid'])]

    def spell_offer(self, e):
        self.sent(e['message'])
        mids = [self.names.mid(m) + ('<' + ','.join(map(self.names.mid, e['after'][m])) if e['after'][m] else '') for m in e['mids']]
        return ['O', e['device']] + mids

    def spell_ask(self, e):
        self.sent(e['message'])
        return ['A', e['device']]

    def spell_serve(self, e):
        back = self.back('S', e)
        self.sent(e['answer'])
        return [back] + self.answer(e, self.state.messages[e['message']])

    def spell_receive(self, e):
        return [self.back('R', e)] + (['+' if e['fits'] else '-'] if 'fits' in e else []) + ([e['minted']] if 'minted' in e else [])

    def spell_foreign(self, e):
        tokens, rows = ['F', self.names.ref('x', e['txn'])], self.state.rows
        for table, name, fields, how in e['writes']:
            than = rows['%s/%s' % (table, name)] if how == 'update' else self.names.inserted(table, e['txn'])
            tokens.append(','.join([letter(WRITES, how) + self.names.key(table, name)] +
                                   self.names.fields(table, fields or {}, than)))
        return tokens

    def spell_attackPush(self, e):
        return ['X', e['user'], str(e['n']), self.names.mid(e['mid'])] + self.ops(e, e['mid']) + self.answer(e, None)

    def spell_attackPull(self, e):
        return ['Y', e['user'], e['cursorOf'], ','.join(map(self.names.space, e['open'])), str(e['limit'])] + \
            self.answer(e, {'open': e['open']})

    # -- parts of events
    def sent(self, number):
        if number != len(self.state.messages):
            raise ValueError('message %d is not the next' % number)

    def back(self, verb, e):
        back = len(self.state.messages) - 1 - e['message']
        return verb + (str(back) if back else '')

    def ops(self, e, mid):
        rows, tokens, n = self.rows_met(e), [], self.names
        for index, op in enumerate(e['ops']):
            row = rows.get('%s/%s' % (op[1], op[2]), {})
            token = letter(OPS, op[0]) + n.key(op[1], op[2])
            if op[0] != 'insert' and op[3] != row.get('inc'):
                token += '@' + n.tag(op[3])
            if op[0] == 'set' and op[5] != (row.get('ver') if op[1] == 'doc' else None):
                token += '^' + n.tag(op[5])
            fields = n.fields(op[1], op[3], n.inserted(op[1], mid), mid) if op[0] == 'insert' else \
                n.fields(op[1], op[4], {}, mid) if op[0] == 'set' else ['n%d' % op[4]] if op[0] == 'add' else []
            tokens.append(','.join([token] + fields))
            fold_one(rows, op, mid, index)
        return tokens

    def answer(self, e, request):
        tokens, n = [], self.names
        if 'verdicts' in e:
            tokens.append(':' + ''.join(letter(OUTCOMES, outcome) if word == 'verdict' else letter(WORDS, word)
                                        for word, _, outcome in e['verdicts']) + ('+' if e.get('sequenced') else ''))
            return tokens + (['&' + ','.join(n.key(*key) for key in e['locked'])] if e['locked'] else [])
        page, busy = e['page'], '~' if e['busy'] else ''
        if page is None:
            return ['0' + busy]
        if 'reset' in page:
            return ['!' + page['reset'] + busy] + list(map(n.space, page['spaces']))
        tokens = [('.' if page['closes'] else '_') + busy] + self.items(page['items'], ITEMS)
        if page['open'] != self.state.open_behind(page, request['open']):
            tokens.append('|' + ','.join(map(n.space, page['open'])))
        return tokens

    def items(self, items, kinds):
        """Steps of a run or items of a page; one that is like the one before but for its row is the row alone."""
        tokens, before, n = [], None, self.names
        for item in items:
            kind, space, *row = item
            if kind == 'member':
                tokens.append(('>' if row[1] else '<') + space + n.space(row[0]))
                before = None
                continue
            head = letter(kinds, 'live' if kind == 'receipt' and kinds is STEPS else 'put' if kind == 'receipt' else kind) + n.space(space)
            text = '' if not row else n.mid(row[1].split('/')[1]) if row[0] == '$receipt' else n.key(*row[:2])
            text += '(%s)' % ','.join(map(n.space, row[2])) if len(row) > 2 and row[2] else ''
            tokens.append(text if head == before and row else head + text)
            before = head
        return tokens

    # -- what is otherwise than predicted
    def changes(self, e):
        state, n = self.state, self.names
        state.predict(e)
        patch(self.rows, e.get('server', {}))
        tokens = section(';w', self.rows_changed(state.rows, self.rows, {}))
        for key in {**state.rows, **self.rows}:
            if state.rows.get(key) != self.rows.get(key):
                state.put(key, self.rows.get(key))
        name = e.get('as') if e['do'] == 'clone' else e.get('device')
        if set(e.get('devices', {})) - {name}:
            raise ValueError('an event changes a device that it does not name')
        if name is None:
            return tokens
        d, told = state.devices[name], self.told.setdefault(name, {**NOTHING, 'screen': {}, 'ids': [name]})
        change = e.get('devices', {}).get(name, {})
        patch(told['screen'], change.get('screen', {}))
        told.update((k, v) for k, v in change.items() if k != 'screen')
        tokens += section(';v', self.rows_changed(d.screen, told['screen'], state.rows))
        if told['outbox'] != d.outbox:
            left = [entry for entry in d.outbox if entry in told['outbox']]
            tokens += [';o'] + [n.mid(q[0]) for q in d.outbox if q not in left] if left == told['outbox'] else \
                [';O'] + ['%s.%d%s' % (n.mid(q[0]), q[1], ''.join(f for f, on in zip('vsd', q[2:]) if on)) for q in told['outbox']]
        if told['inbox'] != d.inbox:
            added = [x for x in told['inbox'] if x not in d.inbox]
            whole = len(added) + len(d.inbox) != len(told['inbox'])
            tokens += [';I' if whole else ';i'] + [n.mid(m) + letter(OUTCOMES, outcome) + (',' + code if code is not None else '')
                                                   for m, outcome, code in (told['inbox'] if whole else added)]
        tokens += [';s%d' % told['staged']] if told['staged'] != d.staged else []
        tokens += section(';a', [n.mid(m) for m in told['archive'] if m not in d.archive] +
                          ['-' + n.mid(m) for m in d.archive if m not in told['archive']])
        tokens += [';d'] + told['ids'] if told['ids'] != d.ids else []
        d.become(told)
        return tokens

    def rows_changed(self, was, now, server):
        """`i3` as the server has it, `i3@x2` as it had it under that version, `-i3` gone, `i3,…` otherwise than before so."""
        n = self.names
        for key in sorted({**was, **now}):
            row, ref = now.get(key), n.key(*key.split('/'))
            if was.get(key) == row:
                continue
            if row is None:
                yield '-' + ref
            elif server.get(key) == row:
                yield ref
            elif server and self.state.versions.get((key, row['ver'])) == row:
                yield ref + '@' + n.tag(row['ver'])
            else:
                yield ','.join([ref] + n.fields(key.split('/')[0], row, was.get(key, {})))


class Reader(Form):
    """Reads a history's lines into the events that were written."""

    def __init__(self, lines):
        self.lines = iter(lines)
        _, seed, limit, bound, faults, *users = next(self.lines).split(' ')
        devices = [['r%d' % i, user] for i, user in enumerate(users)]
        names, body = Names(), []
        for line in self.lines:
            if line[0] in names.real:
                names.read(line)
            else:
                body.append(line)
        super().__init__(names, devices)
        self.out = [{'seed': int(seed), 'limit': int(limit), 'bound': int(bound), 'devices': devices,
                     'faults': [] if faults == '-' else faults.split(',')}]
        self.between = []
        for line in body:
            if line[0] == '~':
                self.between.append(self.read_foreign(line.split(' ')[1:]))
            else:
                self.event(line)

    def event(self, line):
        head, *rest = re.split(r' (?=[#;])', line)
        verb, *tokens = head.split(' ')
        e = {'do': VERBS[verb[0]]}
        runs = [self.unitems(part.split(' ')[1:], STEPS) for part in rest if part[0] == '#']
        read = getattr(self, 'read_' + e['do'], None)
        e.update(read(tokens, verb[1:]) if read else dict(zip(('device', 'as'), tokens)))
        if runs:
            e['runs'] = runs
        rows, was = dict(self.state.rows), {k: dict(vars(d), screen=dict(d.screen)) for k, d in self.state.copies().items()}
        self.state.predict(e)
        name = e.get('as') if e['do'] == 'clone' else e.get('device')
        for part in rest:
            if part[0] == ';':
                self.correct(name, part[1], part[2:].split(' ')[0] if part[1] == 's' else part.split(' ')[1:])
        server = changed(rows, self.state.rows)
        if server:
            e['server'] = server
        if name:
            told, now = {**NOTHING, 'ids': [name]} if e['do'] == 'clone' else was[name], vars(self.state.devices[name])
            change = {'screen': changed(told['screen'], now['screen'])}
            change.update((k, now[k]) for k in NOTHING if k != 'screen' and now[k] != told[k])
            if not change['screen']:
                del change['screen']
            if change:
                e['devices'] = {name: json.loads(json.dumps(change))}
        self.out.append(e)

    # -- events
    def read_write(self, tokens, _):
        e = {'do': 'write', 'device': tokens[0], 'mid': self.names.name(tokens[1])}
        return {**e, 'ops': self.unops(e, tokens[2:], e['mid'])}

    def read_coalesce(self, tokens, flag):
        e = {'do': 'coalesce', 'device': tokens[0], 'mid': self.names.name(tokens[1]), 'as': self.names.name(tokens[2])}
        return {**e, 'ops': self.unops(e, tokens[3:], e['as']), **({'refused': True} if flag else {})}

    def read_discard(self, tokens, _):
        return {'device': tokens[0], 'mid': self.names.name(tokens[1])}

    def read_offer(self, tokens, _):
        pairs = [token.partition('<')[::2] for token in tokens[1:]]
        after = {self.names.name(m): [self.names.name(p) for p in ps.split(',') if p] for m, ps in pairs}
        return {'device': tokens[0], 'mids': list(after), 'message': len(self.state.messages), 'after': after}

    def read_ask(self, tokens, _):
        return {'device': tokens[0], 'message': len(self.state.messages)}

    def read_serve(self, tokens, back):
        last = len(self.state.messages) - 1
        request = self.state.messages[last - int(back or 0)]
        return {'message': last - int(back or 0), 'answer': last + 1, **self.unanswer(tokens, request)}

    def read_receive(self, tokens, back):
        number = len(self.state.messages) - 1 - int(back or 0)
        answer = self.state.messages[number]
        e = {'message': number, 'device': answer['device']}
        if not answer['judged']:
            return {**e, 'fits': tokens[0] == '+'}
        return {**e, 'minted': tokens[0]} if tokens else e

    def read_expire(self, tokens, _):
        return {'upto': int(tokens[0])}

    def read_tail(self, tokens, _):
        return {'epoch': tokens[0] if tokens else None}

    def read_foreign(self, tokens, _=''):
        writer, writes = self.names.name(tokens[0]), []
        for token in tokens[1:]:
            head, *fields = token.split(',')
            how, (table, name) = WRITES[head[0]], self.names.unkey(head[1:])
            than = self.state.rows['%s/%s' % (table, name)] if how == 'update' else self.names.inserted(table, writer)
            whole = {k: v for k, v in than.items() if k not in ('ver', 'inc')}
            whole.update(self.names.unfields(table, fields))
            writes.append([table, name, None if how in ('delete', 'none') else whole, how])
        return {'do': 'foreign', 'txn': writer, 'writes': writes}

    def read_attackPush(self, tokens, _):
        at = next(i for i, token in enumerate(tokens) if token[0] == ':')
        e = {'do': 'attackPush', 'user': tokens[0], 'replica': 'evil-' + tokens[0], 'n': int(tokens[1]),
             'mid': self.names.name(tokens[2])}
        ops = self.unops(e, tokens[3:at], e['mid'])
        return {**e, 'ops': ops, **self.unanswer(tokens[at:], {'mids': [e['mid']], 'replica': e['replica'], 'attack': True})}

    def read_attackPull(self, tokens, _):
        opened = [self.names.unspace(ref) for ref in tokens[2].split(',')]
        return {'user': tokens[0], 'replica': 'evil-' + tokens[0], 'cursorOf': tokens[1], 'open': opened, 'limit': int(tokens[3]),
                **self.unanswer(tokens[4:], {'open': opened})}

    # -- parts of events
    def unops(self, e, tokens, mid):
        rows, ops, n = self.rows_met(e), [], self.names
        for index, token in enumerate(tokens):
            head, *fields = token.split(',')
            sign, ref, inc, base = ROW.match(head).groups()
            table, name = n.unkey(ref)
            row, found = rows.get('%s/%s' % (table, name), {}), n.unfields(table, fields, mid)
            op = [OPS[sign], table, name]
            if sign == '+':
                op.append({**n.inserted(table, mid), **found})
            else:
                op.append(n.untag(inc) if inc else row.get('inc'))
                op += [found, n.untag(base) if base else row.get('ver') if table == 'doc' else None] if sign == '=' else \
                    [found['n']] if sign == '%' else []
            ops.append(op)
            fold_one(rows, op, mid, index)
        return ops

    def unanswer(self, tokens, request):
        head, n = tokens[0], self.names
        if head[0] == ':':
            words, mids = head[1:].rstrip('+'), request['mids']
            verdicts = [['verdict', mids[i], OUTCOMES[w]] if w in OUTCOMES else
                        [WORDS[w], mids[i] if w in 'nb' else request['replica'], ''] for i, w in enumerate(words)]
            e = {'locked': [n.unkey(ref) for ref in tokens[1][1:].split(',')] if len(tokens) > 1 else [], 'verdicts': verdicts}
            return e if 'attack' in request else {**e, 'sequenced': head[-1] == '+'}
        e, self.between = {'busy': head[-1] == '~', 'between': self.between}, []
        head = head.rstrip('~')
        if head[0] in '0!':
            page = {'reset': head[1:], 'spaces': [n.unspace(ref) for ref in tokens[1:]]} if head[0] == '!' else None
            return {**e, 'page': page}
        explicit = tokens[-1][1:] if tokens[-1][0] == '|' else None
        page = {'closes': head == '.', 'items': self.unitems(tokens[1:] if explicit is None else tokens[1:-1], ITEMS)}
        page['open'] = self.state.open_behind(page, request['open']) if explicit is None else \
            [n.unspace(ref) for ref in explicit.split(',') if ref]
        return {**e, 'page': page}

    def unitems(self, tokens, kinds):
        items, n, sign, space = [], self.names, None, None
        for token in tokens:
            head, at, row, still = ITEM.match(token).groups()
            if head and kinds is STEPS and head in '<>':
                items.append(['member', at, n.unspace(row), head == '>'])
                sign = None
                continue
            if head:
                sign, space = head, n.unspace(at)
            kind = kinds[sign]
            if row and row[0] == 'm':
                user = self.state.user(space.split(':')[1])
                items.append(['receipt' if kind == 'put' else kind, space, '$receipt', '%s/%s' % (user, n.name(row))])
            else:
                items.append([kind, space] + (n.unkey(row) if row else []))
            if kind == 'left' and kinds is ITEMS:
                items[-1].append([n.unspace(ref) for ref in still.split(',')] if still else [])
        return items

    # -- what is otherwise than predicted
    def correct(self, name, kind, tokens):
        state, n, d = self.state, self.names, self.state.devices.get(name)
        if kind in 'wv':
            rows = state.rows if kind == 'w' else d.screen
            for token in tokens:
                head, *fields = token.split(',')
                sign, ref, version, _ = ROW.match(head).groups()
                key = '/'.join(n.unkey(ref))
                row = None if sign == '-' else {**rows.get(key, {}), **n.unfields(key.split('/')[0], fields)} if fields else \
                    state.versions[key, n.untag(version)] if version else state.rows[key]
                state.put(key, row) if kind == 'w' else patch(rows, {key: row})
        elif kind == 'o':
            d.outbox = [entry for entry in d.outbox if entry[0] not in map(n.name, tokens)]
        elif kind == 'O':
            d.outbox = [[n.name(mid), int(number)] + [f in flags for f in 'vsd'] for mid, number, flags in
                        (re.match(r'(m\d+)\.(\d+)(\w*)$', token).groups() for token in tokens)]
            d.counter = max([entry[1] for entry in d.outbox], default=0)
        elif kind in 'iI':
            found = [re.match(r'(m\d+)(\w)(?:,(.*))?$', token).groups() for token in tokens]
            d.inbox = sorted((d.inbox if kind == 'i' else []) + [[n.name(m), OUTCOMES[o], code] for m, o, code in found])
        elif kind == 's':
            d.staged = int(tokens)
        elif kind == 'a':
            d.archive = sorted((set(d.archive) | {n.name(t) for t in tokens if t[0] != '-'}) -
                               {n.name(t[1:]) for t in tokens if t[0] == '-'})
        elif kind == 'd':
            d.ids = tokens


def patch(rows, changes):
    for key, row in changes.items():
        rows.pop(key, None)
        if row:
            rows[key] = row


def changed(was, now):
    return {key: now.get(key) for key in sorted({**was, **now}) if was.get(key) != now.get(key)}


def section(name, tokens):
    tokens = list(tokens)
    return [name] + tokens if tokens else []


def histories(path):
    """The histories of a file by title: the seed, or what the line before the head calls it."""
    found, title = {}, None
    with open(path, encoding='utf-8') as f:
        for line in f.read().splitlines():
            if line[0] == '*':
                title = line[2:]
            elif line[0] == '=':
                lines = found.setdefault(title or line.split(' ')[1], [line])
                title = None
            else:
                lines.append(line)
    return found


if __name__ == '__main__':
    for told in Reader(histories(sys.argv[1])[' '.join(sys.argv[2:])]).out:
        print(json.dumps(told, separators=(',', ':')))
