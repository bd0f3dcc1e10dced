// SPDX-License-Identifier: Apache-2.0

import Skerry

extension Replica {
  /// A job with what belongs to it, in one write: nobody ever sees half of it.
  func plan(_ title: String, for crew: RowID<Crew>, using materials: [RowID<Material>]) async throws -> RowID<Job> {
    let job = Job(crew: crew, title: title)
    try write("plan a job") { tx in
      try tx.insert(job)
      try tx.insert(contentsOf: materials.map { Usage(job: job.id, material: $0) })
    }
    return job.id
  }

  /// Two phones may do this at one time: the visits add up, and nothing else of the job is touched.
  func logVisit(to job: RowID<Job>) async throws {
    try write("log a visit") { try $0.increment(\Job.visits, of: job) }
  }

  /// Its usages and sketches go along, as operations of the same write.
  func drop(_ job: RowID<Job>) async throws { try write("drop a job") { try $0.delete(job) } }

  /// Hands a job to another crew. This one's devices lose it, the other's get it.
  func hand(_ job: RowID<Job>, to crew: RowID<Crew>) async throws {
    try write("hand over") { try $0.update(job) { $0.crew = crew } }
  }
}
