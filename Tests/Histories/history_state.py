"""What a history's events do to the tables and devices, as far as that follows from the events themselves.

The text form (history_text) leaves out what this predicts and spells only what is otherwise, so a wrong guess here costs
bytes and never truth. Rows, screens and lists are as events spell them.
"""
COLUMNS = {'team': ('a', 'b', 'n'), 'member': ('a', 'b', 'n', 'team', 'user'), 'item': ('a', 'b', 'n', 'home', 'also'),
           'note': ('a', 'b', 'n', 'parent'), 'part': ('a', 'b', 'n', 'parent'), 'doc': ('a', 'b', 'n', 'home', 'also')}


def fold_one(rows, op, mid, index):
    """One operation over rows; one that does not fit is passed over, as on a screen."""
    kind, key = op[0], '%s/%s' % (op[1], op[2])
    row = rows.get(key)
    if kind == 'insert':
        if row is None:
            rows[key] = {**op[3], 'ver': mid, 'inc': '%s:%d' % (mid, index)}
    elif row is None or row['inc'] != op[3] or kind == 'set' and op[5] not in (None, row['ver']):
        return
    elif kind == 'set':
        rows[key] = {**row, **op[4], 'ver': mid}
    elif kind == 'add':
        rows[key] = {**row, 'n': row['n'] + op[4], 'ver': mid}
    else:
        del rows[key]


def fold(rows, ops, mid):
    for index, op in enumerate(ops):
        fold_one(rows, op, mid, index)


class Device:
    def __init__(self, name, user):
        self.user, self.ids, self.counter, self.staged = user, [name], 0, 0
        self.screen, self.outbox, self.inbox, self.archive = {}, [], [], []
        self.open = []                      # the spaces that its cursor still fills

    def copy(self):
        new = Device('', self.user)
        for name, value in vars(self).items():
            setattr(new, name, value.copy() if isinstance(value, (list, dict)) else value)
        new.outbox = [list(entry) for entry in self.outbox]
        return new

    def become(self, told):
        """Takes the lists of an event; numbers go on behind the highest when they were told anew."""
        if told['outbox'] != self.outbox and not all(entry in self.outbox for entry in told['outbox']):
            self.counter = max([entry[1] for entry in told['outbox']], default=0)
        for name, value in told.items():
            setattr(self, name, value.copy() if isinstance(value, (list, dict)) else value)
        self.outbox = [list(entry) for entry in told['outbox']]

    def entries(self, mids):
        return [entry for entry in self.outbox if entry[0] in mids]


class State:
    def __init__(self, devices):
        self.rows, self.versions = {}, {}   # versions: (key, version) -> the last row of the server that was it
        self.settled = set()                # (user, mutation id): a later verdict only repeats the first
        self.devices = {name: Device(name, user) for name, user in devices}
        self.images, self.backup, self.ops = {}, ({}, set()), {}
        self.messages = [None]              # by number: requests and answers

    def copies(self):
        return {name: device.copy() for name, device in self.devices.items()}

    def user(self, replica):
        return 'u' + replica[-1] if replica.startswith('evil') else self.devices[replica.split('~')[0]].user

    def put(self, key, row):
        if row is None:
            self.rows.pop(key, None)
        else:
            self.rows[key] = row
            self.versions[key, row['ver']] = row

    def predict(self, e):
        getattr(self, 'do_' + e['do'], lambda e: None)(e)

    # -- users
    def do_write(self, e):
        d = self.devices[e['device']]
        self.ops[e['mid']] = e['ops']
        d.counter += 1
        d.outbox.append([e['mid'], d.counter, False, False, False])
        fold(d.screen, e['ops'], e['mid'])

    def do_coalesce(self, e):
        d = self.devices[e['device']]
        if not e.get('refused'):
            self.ops[e['as']] = e['ops']
            for entry in d.entries([e['mid']]):
                entry[0] = e['as']
            fold(d.screen, e['ops'], e['as'])

    def do_discard(self, e):
        for entry in self.devices[e['device']].entries([e['mid']]):
            entry[2] = True

    # -- network
    def do_offer(self, e):
        d = self.devices[e['device']]
        for entry in d.entries(e['mids']):
            entry[3] = True
        self.messages.append({'device': e['device'], 'mids': e['mids'], 'replica': d.ids[-1]})

    def do_ask(self, e):
        self.messages.append({'device': e['device'], 'open': self.devices[e['device']].open})

    def do_serve(self, e):
        device = self.messages[e['message']]['device']
        if 'verdicts' in e:
            self.judge(self.devices[device].user, e['verdicts'])
        for foreign in e.get('between', ()):
            self.do_foreign(foreign)
        self.messages.append({'device': device, 'page': e.get('page'), 'judged': 'verdicts' in e})

    def judge(self, user, verdicts):
        for word, mid, outcome in verdicts:
            if word == 'verdict' and (user, mid) not in self.settled:
                self.settled.add((user, mid))
                if outcome == 'confirmed':
                    before = dict(self.rows)
                    fold(self.rows, self.ops[mid], mid)
                    for key in {'%s/%s' % (op[1], op[2]) for op in self.ops[mid]}:
                        if self.rows.get(key) is not before.get(key):
                            self.put(key, self.rows.get(key))

    @staticmethod
    def open_behind(page, before):
        """The spaces that are open behind a page, by those that were before it."""
        for item in page['items']:
            if item[0] in ('gain', 'lose', 'filled'):
                before = [space for space in before if space != item[1]] + ([item[1]] if item[0] == 'gain' else [])
        return before

    def do_receive(self, e):
        d, page = self.devices[e['device']], self.messages[e['message']]['page']
        if 'minted' in e:
            d.ids.append(e['minted'])
            d.counter = len(d.outbox)
            for i, entry in enumerate(d.outbox):
                entry[1] = i + 1
        if page is None or not e['fits']:
            return
        if 'reset' in page:
            d.staged, d.open = 0, ['replica:' + r for r in d.ids] + page['spaces']
        else:
            d.staged += sum(item[0] in ('put', 'deleted', 'filled', 'receipt') for item in page['items'])
            d.staged, d.open = 0 if page['closes'] and not page['open'] else d.staged, page['open']

    def do_image(self, e):
        self.images[e['device']] = self.devices[e['device']].copy()

    def do_restore(self, e):
        self.devices[e['device']] = self.images[e['device']].copy()

    def do_clone(self, e):
        self.devices[e['as']] = self.devices[e['device']].copy()

    # -- the server
    def do_foreign(self, e):
        for table, name, fields, how in e['writes']:
            key = '%s/%s' % (table, name)
            inc = self.rows[key]['inc'] if how == 'update' else e['txn']
            self.put(key, fields and {**fields, 'ver': e['txn'], 'inc': inc})

    def do_backup(self, e):
        self.backup = dict(self.rows), set(self.settled)

    def do_tail(self, e):
        self.rows, self.settled = dict(self.backup[0]), set(self.backup[1])

    # -- attackers
    def do_attackPush(self, e):
        self.ops[e['mid']] = e['ops']
        self.judge(e['user'], e['verdicts'])
