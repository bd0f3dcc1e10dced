// SPDX-License-Identifier: Apache-2.0

/// What `skerry help` and `skerry VERB --help` print.
struct HelpPage {
  let verb: String
  let summary: String
  let usage: String
  /// A line an option, or a remark.
  let details: String

  /// All verbs in one page.
  static var all: String {
    let width = (verbs.map(\.verb.count).max() ?? 0) + 2
    let lines = verbs.map { page in
      "  " + page.verb + String(repeating: " ", count: width - page.verb.count) + page.summary
    }
    return """
      skerry: an offline-first sync engine

      usage: skerry VERB [options]       skerry VERB --help tells of one

      \(lines.joined(separator: "\n"))

      \(exitCodes)
      """
  }

  /// One verb's own page.
  var text: String {
    """
    skerry \(verb): \(summary)

    usage: skerry \(verb) \(usage)

    \(details)

    \(HelpPage.exitCodes)
    """
  }

  static func of(_ verb: String) -> HelpPage? { verbs.first { $0.verb == verb } }

  private static let exitCodes =
    "exit codes: 0 done · 1 the check that was asked for failed · 2 the command line is wrong · 3 it could not be done"

  private static let verbs = [
    HelpPage(
      verb: "demo", summary: "two devices and a server as processes on this machine, on real contacts",
      usage: "[--drop CHANCE] [--seed N] [--sabotage] [--data FOLDER] [--folder FOLDER]",
      details: """
        --drop CHANCE    the probability with which each message is lost, 0 to 0.8
        --seed N         decides which
        --sabotage       skips one row at the end; the comparison must find it, and the exit code is 1
        --data FOLDER    where schema.json and data/ are; Examples/Contacts
        --folder FOLDER  where the files go, new or empty; one in the system's temporary folder, removed by runs a day later
        """),
    HelpPage(
      verb: "serve", summary: "a server beside one SQLite file, until SIGINT or SIGTERM",
      usage: "--database FILE --schema FILE (--secret-file FILE | --public-key-file FILE)… [options]",
      details: """
        --database FILE         is made if it is missing; the app's tables in it are captured by triggers
        --earlier FILE,FILE…    earlier versions of the schema of which devices may come; those that the database was served by
                                are known anyway
        --secret-file FILE      at least 32 bytes; tokens are HS256 then
        --public-key-file FILE  PEM of a P-256 key; tokens are ES256 then
        --public-key-id ID      the kid of its tokens; needed beside a secret
        --issuer, --audience    what tokens must name as iss and aud; skerry
        --host ADDRESS          numeric; 127.0.0.1
        --port N                0 for any free one; it is printed
        --threads N             how many requests are worked on at a time; 4
        --until-eof             ends with the standard input too
        --stop-at POINT:N       stops itself at push, answer or sequencer, for tests of death (docs/device.md)
        Failures go to standard error, without tokens and without values of rows.
        """),
    HelpPage(
      verb: "device", summary: "a real device as a process, told what to do over HTTP on the loopback address",
      usage: "--folder FOLDER --account ID --schema FILE [--server URL --token-file FILE] [options]",
      details: """
        It prints one line of JSON with its control address and key; docs/device.md has the orders.
        --control PORT     0 for any free one
        --run              starts the engine's loop
        --seed N           decides what chance does to messages
        --until-eof        ends with the standard input too
        --stop-at POINT:N  stops itself at write or page, for tests of death
        """),
    HelpPage(
      verb: "import", summary: "rows of a CSV, JSON or SQLite file into a device's store",
      usage: "FILE --database STORE --account ID --schema FILE --table TABLE [options]",
      details: """
        FILE is a .csv with the columns' names in its first line, a .json array of objects, an .ndjson with an object on each
        line, or a .sqlite. It is checked as a whole before anything is written; a call that was cut off can be made again.
        --database STORE   a device's file; is made if it is missing
        --as unsent        ordinary mutations, which the next sync sends; the default
        --as on-server     shown as not confirmed until the first sync confirms or replaces them
        --batch N          rows in one mutation; 100
        --name NAME        what this import is called: under one name it is done once; by FILE and TABLE
        --from TABLE       the table of a .sqlite; the same name
        --skip COLUMNS     columns of FILE to pass over, with commas
        An empty field of a CSV without quotes is no value, "" is an empty text. Times are milliseconds since 1970, blobs
        hexadecimal digits. Tables that others refer to come first.
        A server's tables are ordinary SQL tables, and triggers see every insert: use SQL there, such as
        sqlite3 app.db '.mode csv' '.import --skip 1 people.csv people'
        """),
    HelpPage(
      verb: "inspect", summary: "what the file of a device or of a server holds, without any value of a row",
      usage: "STORE [--keys] [--json | --bundle]",
      details: """
        The file is only read, and may be in use or a copy.
        --keys    shows the keys of rows
        --json    one JSON object
        --bundle  a device's support bundle: no values, and keys, labels and names of spaces only as hashes
        """),
    HelpPage(
      verb: "explain", summary: "why one row looks as it does, on a device or a server",
      usage: "STORE TABLE KEY… --schema FILE [--values] [--json]",
      details: """
        A KEY is one word for each column of the key. The files keep no schema, only its name and version or fingerprint, so
        it must be given.
        --values  shows values
        --json    one JSON object
        """),
    HelpPage(
      verb: "schema", summary: "checks a schema file, or shows what it comes to",
      usage: "check FILE | sql FILE [--server | --device] | json FILE",
      details: """
        check  every complaint, with table, column, reason and remedy; exit code 1 if there is one
        sql    what a server (or a device) makes of it
        json   its canonical form, to compare two files
        FILE may be - for standard input.
        """),
    HelpPage(
      verb: "token", summary: "prints a bearer token (HS256), for trying things out",
      usage: "--account ID --secret-file FILE [--hours N]", details: "--hours N  how long it counts; 1"),
    HelpPage(
      verb: "simulate",
      summary: "the real client and server code in virtual time, with everything that goes wrong, from seeds",
      usage: "[--seeds N] [--first SEED] [--seed N] [--steps N] [--schema FILE] [options]",
      details: """
        --seeds N        how many seeds; 100
        --first SEED     the first of them; 1
        --seed N         this one only
        --steps N        what people, programs and chance do in each; 400
        --schema FILE    an app's own schema; otherwise one in which everything is declared
        --faults KINDS   all (each seed draws its own), none, or names with commas, which are then in every seed
        --without KINDS  names with commas
        --list-faults    prints the names
        --effects        tells for each kind the first seed in which it changes what happens; exit code 1 if one never does
        --matrix         5 and 10 replicas, 10-40 writes a second for 100-300 s, partitions of 0-10 s all the time; devices
                         are looked at where they say that they are as the server was
        --jobs N         processes that work at one time; as many as there are processors
        --keep-going     does not end with the first seed that breaks a check
        --no-shrink      tells the whole run of a seed that breaks, not the smallest part of it that does
        --trace FILE     writes the story of the run, with its hash
        --timeline FILE  draws it as SVG
        """),
    HelpPage(
      verb: "bench", summary: "what Skerry costs beside the bare thing, as ratios measured in one run",
      usage: "[write|batch|open|observers|push|firstSync|emptyPull] [--runs N] [--percent N] [--folder FOLDER]",
      details: """
        Prints one JSON object a line; the figures are medians of the runs. Use a release build.
        --runs N         how often each is measured; 5
        --percent N      how much is measured; 100
        --folder FOLDER  whose disk is used; the system's temporary folder
        """),
  ]
}
