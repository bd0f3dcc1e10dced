// SPDX-License-Identifier: Apache-2.0

/// Reads `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.
package enum RetryAfter {
  /// Longer waits are cut to this, some thirty years, so that nobody's sum overflows.
  private static let mostSeconds: Int64 = 1_000_000_000

  /// The wait in milliseconds; nil if it is malformed, negative or over already.
  package static func milliseconds(_ text: String, now: Int64) -> Int64? {
    if let seconds = seconds(text) { return seconds * 1_000 }
    guard let date = HTTPDate.milliseconds(text), date > now else { return nil }
    return min(date - now, mostSeconds * 1_000)
  }

  private static func seconds(_ text: String) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    return min(Int64(text) ?? mostSeconds, mostSeconds)
  }
}

/// Reads the one form of date that HTTP/1.1 allows to send, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section
/// 5.6.7). The two older forms are not read: a server that sends one gets our own back-off.
package enum HTTPDate {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

  /// Milliseconds since 1970; nil if it is malformed or no day of the calendar.
  package static func milliseconds(_ text: String) -> Int64? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 6, parts[0].last == ",", days.contains(String(parts[0].dropLast())), parts[5] == "GMT",
      let day = number(parts[1], digits: 2), let month = months.firstIndex(of: parts[2]),
      let year = number(parts[3], digits: 4), let time = secondOfDay(parts[4]),
      1...lastDay(of: month + 1, year) ~= day
    else { return nil }
    return (dayNumber(year, month + 1, day) * 86_400 + time) * 1_000
  }

  private static func secondOfDay(_ text: String) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let hour = number(parts[0], digits: 2), let minute = number(parts[1], digits: 2),
      let second = number(parts[2], digits: 2), hour < 24, minute < 60, second <= 60  // a leap second is one
    else { return nil }
    return hour * 3_600 + minute * 60 + second
  }

  private static func number(_ text: String, digits: Int) -> Int64? {
    guard text.utf8.count == digits, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    return Int64(text)
  }

  private static func lastDay(of month: Int, _ year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days since 1970 in the Gregorian calendar: years begin in March, so that the leap day is the last of one.
  private static func dayNumber(_ year: Int64, _ month: Int, _ day: Int64) -> Int64 {
    let shifted = Int64((month + 9) % 12)
    let years = month <= 2 ? year - 1 : year
    let leapDays = years / 4 - years / 100 + years / 400
    return years * 365 + leapDays + (shifted * 306 + 5) / 10 + day - 1 - 719_468
  }
}
