"""How the text form spells names and values: mutation ids, foreign transactions, rows, spaces, versions, fields."""
import re

from history_state import COLUMNS

TABLES = {'d': 'doc', 'i': 'item', 'w': 'member', 'n': 'note', 'p': 'part', 't': 'team'}
LETTERS = {table: letter for letter, table in TABLES.items()}
FIELDS = {'a': 'a', 'b': 'b', 'n': 'n', 'h': 'home', 'l': 'also', 'p': 'parent', 't': 'team', 'u': 'user', 'v': 'ver', 'c': 'inc'}
FIELD_LETTERS = {column: letter for letter, column in FIELDS.items()}
USERS = ('u0', 'u1', 'u2')              # what follows `member` in a step that is no row's
PARENTS = {'note': 'i', 'part': 'n'}
WRITER = re.compile(r'(?<![0-9a-z~])([mx])(?:[0-9a-f]{7}|0)(?![0-9a-z])')


class Names:
    """Mutation ids, foreign transactions and rows are called by a letter and their rank among those of the history, in the
    order of their real names: order by rank is order by name."""

    def __init__(self):
        self.real = {letter: [] for letter in ['m', 'x', *TABLES]}
        self.ranks = {}

    def add(self, letter, names):
        self.real[letter] = list(names)
        self.ranks.update({(letter, name): i for i, name in enumerate(names)})

    @staticmethod
    def of(lines):
        """All that is named anywhere in a history."""
        found, names = {letter: set() for letter in ['m', 'x', *TABLES]}, Names()

        def visit(value):
            if isinstance(value, dict):
                for key, inner in value.items():
                    visit(key), visit(inner)
            elif isinstance(value, (list, tuple)):
                for table, name in zip(value, value[1:]):       # a row is its table and its id, wherever it stands in a list
                    if isinstance(table, str) and table in LETTERS and isinstance(name, str) and name not in USERS:
                        found[LETTERS[table]].add(name)
                for inner in value:
                    visit(inner)
            elif isinstance(value, str):
                for match in WRITER.finditer(value):
                    found[match[1]].add(match[0])
                table, sign, name = re.match(r'(\w*)(.?)(.*)', value).groups()
                if table in LETTERS and (sign == '/' or table == 'team' and sign == ':'):
                    found[LETTERS[table]].add(name)
        visit(lines)
        for letter, known in found.items():
            names.add(letter, sorted(known))
        return names

    # -- the head
    def lines(self):
        for letter, known in self.real.items():
            if known:
                yield ' '.join([letter] + [name[1:] if name[0] == letter else '.' + name for name in known])

    def read(self, line):
        letter, *names = line.split(' ')
        self.add(letter, [name[1:] if name[0] == '.' else letter + name for name in names])

    # -- references
    def ref(self, letter, name):
        return '%s%d' % (letter, self.ranks[letter, name])

    def name(self, ref):
        return self.real[ref[0]][int(ref[1:])]

    def mid(self, name):
        return self.ref('m', name)

    def key(self, table, name):
        return self.ref(LETTERS[table], name)

    def unkey(self, ref):
        return [TABLES[ref[0]], self.name(ref)]

    def space(self, space):
        kind, _, name = space.partition(':')
        return {'user': lambda: name, 'team': lambda: self.ref('t', name), 'replica': lambda: name.replace('evil-u', 'e')}[kind]()

    def unspace(self, ref):
        return 'user:' + ref if ref[0] == 'u' else 'team:' + self.name(ref) if ref[0] == 't' else \
            'replica:' + ref.replace('e', 'evil-u')

    def tag(self, text):
        """A version (`m3`, `x2`) or an incarnation (`m3:0`, `x2`); anything else in quotes."""
        head, colon, index = text.partition(':')
        known = (head[0], head) in self.ranks and (index.isdigit() or not colon)
        return self.ref(head[0], head) + colon + index if known else '"%s"' % text

    def untag(self, text):
        head, colon, index = text.partition(':')
        return text[1:-1] if text[0] == '"' else self.name(head) + colon + index

    # -- fields
    def field(self, table, column, value, own):
        letter = PARENTS.get(table) if column == 'parent' else 't' if column == 'team' else None
        head, slash, rest = str(value).partition('/')
        if value is None:
            text = '-'
        elif column in ('n', 'user'):
            text = str(value)
        elif column in ('ver', 'inc'):
            text = self.tag(value)
        elif column in ('home', 'also'):
            text = self.space(value)
        elif letter and (letter, value) in self.ranks:
            text = self.ref(letter, value)
        elif head == own and slash:
            text = '/' + rest
        elif not letter and (head[0], head) in self.ranks:
            text = self.ref(head[0], head) + slash + rest
        else:
            text = value if value.isdigit() else '"%s"' % value
        if re.search(r'[ ,]', text):
            raise ValueError('cannot be spelled: ' + text)
        return FIELD_LETTERS[column] + text

    def unfield(self, table, token, own):
        column, text = FIELDS[token[0]], token[1:]
        head, slash, rest = text.partition('/')
        if text == '-':
            return column, None
        if text[0] == '"':
            return column, text[1:-1]
        if column in ('n', 'user'):
            return column, int(text) if column == 'n' else text
        if column in ('ver', 'inc'):
            return column, self.untag(text)
        if column in ('home', 'also'):
            return column, self.unspace(text)
        if head == '':
            return column, own + text
        return column, text if text.isdigit() else self.name(head) + slash + rest

    def fields(self, table, fields, than, own=None):
        """Those that are otherwise than in `than`."""
        return [self.field(table, c, v, own) for c, v in fields.items() if c not in than or than[c] != v]

    def unfields(self, table, tokens, own=None):
        return dict(self.unfield(table, token, own) for token in tokens)

    @staticmethod
    def inserted(table, own):
        """What an insert writes where it says nothing."""
        return {**{column: None for column in COLUMNS[table]}, 'a': '0' if table == 'member' else own,
                'b': None if table in ('team', 'member') else '0', 'n': 0}
