// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryWire

/// Holds every answer of the server against what the model knows, before the network does anything to it.
enum PageOracle {
  static func check(
    _ answer: PushAnswer, to request: PushRequest, _ user: AccountID, _ model: ModelServer, epoch: String, floor: Int64
  ) throws {
    let isJudged = answer.verdicts.contains { verdict in
      switch verdict {
      case .settled, .notYet: true
      default: false
      }
    }
    let isOther = answer.verdicts.contains { if case .otherHistory = $0 { true } else { false } }
    let isOfThis = request.cursor.map { serves($0, model, epoch, floor) } ?? true
    try need(
      isOfThis ? !isOther : !isJudged, "I-21 a push is judged in another history than it names, or not in its own",
      "\(user) \(String(describing: request.cursor)), epoch \(epoch), floor \(floor)")
    let asked = Set(request.mutations.map(\.id))
    for verdict in answer.verdicts {
      switch verdict {
      case .settled(let id, let outcome):
        let known = model.receipts[ModelServer.ReceiptName(user: user, mutation: id)]
        try need(
          known?.outcome == outcome && asked.contains(id), "INV 1 told a verdict that is not stored",
          "\(id) \(outcome), stored \(String(describing: known))")
      case .notYet(let id):
        let after = request.mutations.first { $0.id == id }?.after ?? []
        let waits = after.contains { model.receipts[ModelServer.ReceiptName(user: user, mutation: $0)] == nil }
        try need(waits, "I-13 told to wait for nothing", "\(id) after \(after)")
      case .busy, .identityReused, .otherHistory, .forbidden: break
      }
    }
  }

  /// Nobody is shown a foreign row, and nothing that was not sequenced.
  static func check(
    _ answer: PullAnswer, to request: PullRequest, _ user: AccountID, _ model: ModelServer, by lens: Lens, isOwn: Bool,
    epoch: String, floor: Int64
  ) throws {
    try checkReset(answer, request, model, epoch, floor)
    switch answer {
    case .reset(let reset):
      guard let run = model.runs[reset.cursor.nonce] else { return }
      let mine = run.spaces(of: user)
      for space in reset.spaces where !space.holdsReceipts {
        try need(mine.contains(space), "INV 7 a reset names a space that is not the user's", "\(user) \(space)")
      }
    case .page(let page): try check(page, request, user, model, lens, isOwn: isOwn)
    }
  }

  private static func serves(_ cursor: Cursor, _ model: ModelServer, _ epoch: String, _ floor: Int64) -> Bool {
    cursor.epoch == epoch && model.lineage.contains(cursor.nonce) && cursor.position >= floor
  }

  /// A cursor of this history is answered by a page, and any other by a reset.
  private static func checkReset(
    _ answer: PullAnswer, _ request: PullRequest, _ model: ModelServer, _ epoch: String, _ floor: Int64
  ) throws {
    let isServable = request.cursor.map { serves($0, model, epoch, floor) } ?? false
    switch answer {
    case .reset(let reset):
      try need(
        !isServable, "I-21 a reset that nothing asks for", "\(reset.reason) to \(String(describing: request.cursor))")
    case .page:
      try need(
        isServable, "I-21 a cursor of another history is served",
        "\(String(describing: request.cursor)), epoch \(epoch), floor \(floor)")
    }
  }

  private static func check(
    _ item: PageItem, _ run: ModelServer.Run, _ mine: Set<SpaceID>, _ request: PullRequest, _ user: AccountID,
    _ model: ModelServer, _ lens: Lens
  ) throws {
    switch item {
    case .put(let space, let image):
      try need(
        mine.contains(space) && run.spaces(of: image.key).contains(space), "INV 7 a page shows a foreign row",
        "\(user) \(space) \(image.key)")
      let row = Row(
        values: lens.full(image.key.table, image.values), tag: image.version, incarnation: image.incarnation)
      try need(
        run.rows[image.key].map { lens.shows($0, row) } == true,
        "I-5 a page shows what was not sequenced", "\(user) \(image.key)")
    case .receipt(let space, let receipt):
      let isOwn = request.replicas.contains { space == SpaceID.replica($0) && model.owners[$0] == user }
      let known = model.receipts[ModelServer.ReceiptName(user: user, mutation: receipt.id)]
      try need(isOwn, "INV 7 a page shows a receipt of another replica", "\(user) \(space)")
      try need(known?.outcome == receipt.outcome, "I-4 a page shows a verdict that is not stored", "\(receipt.id)")
    case .gain(let space):
      try need(mine.contains(space), "INV 7 a page gives a space that is not the user's", "\(user) \(space)")
    case .lose(let space):
      try need(!mine.contains(space), "INV 5 a page takes a space that is the user's", "\(user) \(space)")
    case .left(let space, let key, let still):
      try need(
        !run.spaces(of: key).contains(space), "INV 5 a page says that a row left a space it is in", "\(key) \(space)")
      for other in still {
        try need(
          mine.contains(other) && run.spaces(of: key).contains(other), "INV 7 a leave names a foreign space",
          "\(key) \(other)")
      }
    case .deleted(let space, let key):
      try need(
        !run.spaces(of: key).contains(space), "INV 5 a page says that a row is deleted which is there",
        "\(key) \(space)")
    case .filled: break
    }
  }

  private static func check(
    _ page: Page, _ request: PullRequest, _ user: AccountID, _ model: ModelServer, _ lens: Lens, isOwn: Bool
  ) throws {
    guard let run = model.runs[page.cursor.nonce] else {
      throw Broken("I-21 a page names a run that never was", "\(page.cursor.head) \(page.cursor.nonce)")
    }
    let mine = run.spaces(of: user)
    for item in page.items { try check(item, run, mine, request, user, model, lens) }
    if page.closes {
      try need(model.lastRun == page.cursor.nonce, "INV 2 a page closes at a run that is not the last", "\(user)")
      try need(page.cursor.head >= page.cursor.position, "INV 2 a cursor is ahead of its run", "\(page.cursor)")
      if isOwn { try checkDigests(page, run, mine) }
      try need(isOwn || page.digests.isEmpty, "I-12 a digest over columns that the device does not know", "\(user)")
    }
    try need(page.safe <= model.safe, "I-3 a page calls safe what no backup holds", "\(page.safe) of \(model.safe)")
  }

  /// The sums by which a device finds that it is wrong are right, and of all its spaces that changed.
  private static func checkDigests(_ page: Page, _ run: ModelServer.Run, _ mine: Set<SpaceID>) throws {
    for (space, digest) in page.digests {
      try need(mine.contains(space), "INV 7 a digest of a foreign space", "\(space)")
      let rows = run.rows.keys.reduce(into: 0) { $0 += run.spaces(of: $1).contains(space) ? 1 : 0 }
      try need(
        digest.rows == Int64(rows), "I-12 a page's digest is not its space's", "\(space) \(digest), \(rows) rows")
    }
    guard page.cursor.isWhole, mine.count <= 32 else { return }
    for space in mine where page.digests[space] == nil {
      throw Broken("I-12 a closing page without a digest", "\(space)")
    }
  }
}
