// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// A hash over everything that devices and servers must agree on: two declarations under one version number are told apart.
  /// What only speeds up queries, is shown on a device or stays there is no part of it.
  package var fingerprint: [UInt8] {
    var writer = CBORWriter()
    func texts(_ parts: String...) { for part in parts { writer.text(part) } }
    texts(name)
    writer.integer(Int64(version))
    for space in spaces.sorted(by: { $0.kind < $1.kind }) {
      texts("space", space.kind, space.root ?? "")
      switch space.members {
      case .everyone: texts("everyone")
      case .table(let table, let space, let user): texts("table", table, space, user)
      }
    }
    for feature in features.sorted(by: { $0.name < $1.name }) {
      texts("feature", feature.name, feature.level.rawValue)
      for table in feature.tables.sorted(by: { $0.name < $1.name }) { table.write(to: &writer) }
    }
    return SHA256.hash(writer.bytes)
  }
}

extension TableDefinition {
  fileprivate func write(to writer: inout CBORWriter) {
    writer.text("table")
    writer.text(name)
    for column in columns {
      writer.text(column.name)
      writer.text(column.type.rawValue)
      writer.bool(column.isOptional)
      writer.text(column.rule.rawValue)
      // What a column need not have is written only if it has it, each under a word of its own.
      if let value = column.defaultValue { writer.values([.text("default"), value]) }
      if let reference = column.reference {
        writer.values([.text("references"), .text(reference.table), .text(reference.onDelete.rawValue)])
      }
    }
    writer.text("key")
    for column in key { writer.text(column) }
    writer.text(detection.rawValue)
    for index in indexes where index.isUnique {
      writer.values([.text("unique")] + index.columns.map { .text($0) })
    }
    for rule in spaces {
      switch rule {
      case .owner(let column, let kind): writer.values([.text("owner"), .text(column), .text(kind)])
      case .named(let column): writer.values([.text("named"), .text(column)])
      case .constant(let space): writer.values([.text("constant"), .text(space.text)])
      case .parent(let column, let table): writer.values([.text("parent"), .text(column), .text(table)])
      }
    }
  }
}
