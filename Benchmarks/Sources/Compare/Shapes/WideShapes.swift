import Foundation

// Structs of many fields, as tables and settings have them.

struct Customer: Shape {
  static let title = "41 fields"
  var id: Int
  var name, street, city, country, email, phone, website, company, title, note: String
  var orders, visits, refunds, points, balance, limit, children, floor, number, zone: Int
  var height, weight, latitude, longitude, discount, rating, score, income, rent, tax: Double
  var isActive, isAdmin, isVerified, isBlocked, hasConsent: Bool
  var born, joined, seen, changed, billed: Date

  static func make(_ number: Int, _ maker: inout Maker) -> Customer {
    Customer(id: number, maker: &maker)
  }

  private init(id: Int, maker: inout Maker) {
    self.id = id
    (name, street, city, country, email) = maker.five { $0.words(2) }
    (phone, website, company, title, note) = maker.five { $0.words(2) }
    (orders, visits, refunds, points, balance) = maker.five { $0.int(0...100_000) }
    (limit, children, floor, number, zone) = maker.five { $0.int(0...100_000) }
    (height, weight, latitude, longitude, discount) = maker.five { $0.price() }
    (rating, score, income, rent, tax) = maker.five { $0.price() }
    (isActive, isAdmin, isVerified, isBlocked, hasConsent) = maker.five { $0.bool() }
    (born, joined, seen, changed, billed) = maker.five { $0.date() }
  }
}

extension Customer {
  func write(to writer: inout HandWriter) {
    writer.write(id)
    writer.write(name, street, city, country, email)
    writer.write(phone, website, company, title, note)
    writer.write(orders, visits, refunds, points, balance)
    writer.write(limit, children, floor, number, zone)
    writer.write(height, weight, latitude, longitude, discount)
    writer.write(rating, score, income, rent, tax)
    writer.write(isActive, isAdmin, isVerified, isBlocked, hasConsent)
    writer.write(born, joined, seen, changed, billed)
  }

  init(reading reader: inout HandReader) throws {
    id = try reader.next()
    (name, street, city, country, email) = try reader.nextFive()
    (phone, website, company, title, note) = try reader.nextFive()
    (orders, visits, refunds, points, balance) = try reader.nextFive()
    (limit, children, floor, number, zone) = try reader.nextFive()
    (height, weight, latitude, longitude, discount) = try reader.nextFive()
    (rating, score, income, rent, tax) = try reader.nextFive()
    (isActive, isAdmin, isVerified, isBlocked, hasConsent) = try reader.nextFive()
    (born, joined, seen, changed, billed) = try reader.nextFive()
  }
}

struct Questionnaire: Shape {
  static let title = "100 fields"
  static let count = 300
  var id: Int
  var text0, text1, text2, text3, text4, text5, text6, text7, text8, text9: String
  var text10, text11, text12, text13, text14, text15, text16, text17, text18, text19: String
  var text20, text21, text22, text23, text24, text25, text26, text27, text28, text29: String
  var number0, number1, number2, number3, number4, number5, number6, number7, number8, number9: Int
  var number10, number11, number12, number13, number14, number15, number16, number17, number18, number19: Int
  var number20, number21, number22, number23, number24, number25, number26, number27, number28, number29: Int
  var amount0, amount1, amount2, amount3, amount4, amount5, amount6, amount7, amount8, amount9: Double
  var amount10, amount11, amount12, amount13, amount14, amount15, amount16, amount17, amount18,
    amount19: Double
  var flag0, flag1, flag2, flag3, flag4, flag5, flag6, flag7, flag8, flag9: Bool
  var date0, date1, date2, date3, date4: Date
  var choice0, choice1, choice2, choice3: Int?

  static func make(_ number: Int, _ maker: inout Maker) -> Questionnaire {
    Questionnaire(id: number, maker: &maker)
  }

  private init(id: Int, maker: inout Maker) {
    self.id = id
    (text0, text1, text2, text3, text4) = maker.five { $0.word() }
    (text5, text6, text7, text8, text9) = maker.five { $0.word() }
    (text10, text11, text12, text13, text14) = maker.five { $0.word() }
    (text15, text16, text17, text18, text19) = maker.five { $0.word() }
    (text20, text21, text22, text23, text24) = maker.five { $0.word() }
    (text25, text26, text27, text28, text29) = maker.five { $0.word() }
    (number0, number1, number2, number3, number4) = maker.five { $0.int(0...100_000) }
    (number5, number6, number7, number8, number9) = maker.five { $0.int(0...100_000) }
    (number10, number11, number12, number13, number14) = maker.five { $0.int(0...100_000) }
    (number15, number16, number17, number18, number19) = maker.five { $0.int(0...100_000) }
    (number20, number21, number22, number23, number24) = maker.five { $0.int(0...100_000) }
    (number25, number26, number27, number28, number29) = maker.five { $0.int(0...100_000) }
    (amount0, amount1, amount2, amount3, amount4) = maker.five { $0.price() }
    (amount5, amount6, amount7, amount8, amount9) = maker.five { $0.price() }
    (amount10, amount11, amount12, amount13, amount14) = maker.five { $0.price() }
    (amount15, amount16, amount17, amount18, amount19) = maker.five { $0.price() }
    (flag0, flag1, flag2, flag3, flag4) = maker.five { $0.bool() }
    (flag5, flag6, flag7, flag8, flag9) = maker.five { $0.bool() }
    (date0, date1, date2, date3, date4) = maker.five { $0.date() }
    choice0 = maker.maybe { $0.int(0...9) }
    choice1 = maker.maybe { $0.int(0...9) }
    choice2 = maker.maybe { $0.int(0...9) }
    choice3 = maker.maybe { $0.int(0...9) }
  }
}

extension Questionnaire {
  func write(to writer: inout HandWriter) {
    writer.write(id)
    writer.write(text0, text1, text2, text3, text4)
    writer.write(text5, text6, text7, text8, text9)
    writer.write(text10, text11, text12, text13, text14)
    writer.write(text15, text16, text17, text18, text19)
    writer.write(text20, text21, text22, text23, text24)
    writer.write(text25, text26, text27, text28, text29)
    writer.write(number0, number1, number2, number3, number4)
    writer.write(number5, number6, number7, number8, number9)
    writer.write(number10, number11, number12, number13, number14)
    writer.write(number15, number16, number17, number18, number19)
    writer.write(number20, number21, number22, number23, number24)
    writer.write(number25, number26, number27, number28, number29)
    writer.write(amount0, amount1, amount2, amount3, amount4)
    writer.write(amount5, amount6, amount7, amount8, amount9)
    writer.write(amount10, amount11, amount12, amount13, amount14)
    writer.write(amount15, amount16, amount17, amount18, amount19)
    writer.write(flag0, flag1, flag2, flag3, flag4)
    writer.write(flag5, flag6, flag7, flag8, flag9)
    writer.write(date0, date1, date2, date3, date4)
    writer.write(choice0, choice1, choice2, choice3)
  }

  init(reading reader: inout HandReader) throws {
    id = try reader.next()
    (text0, text1, text2, text3, text4) = try reader.nextFive()
    (text5, text6, text7, text8, text9) = try reader.nextFive()
    (text10, text11, text12, text13, text14) = try reader.nextFive()
    (text15, text16, text17, text18, text19) = try reader.nextFive()
    (text20, text21, text22, text23, text24) = try reader.nextFive()
    (text25, text26, text27, text28, text29) = try reader.nextFive()
    (number0, number1, number2, number3, number4) = try reader.nextFive()
    (number5, number6, number7, number8, number9) = try reader.nextFive()
    (number10, number11, number12, number13, number14) = try reader.nextFive()
    (number15, number16, number17, number18, number19) = try reader.nextFive()
    (number20, number21, number22, number23, number24) = try reader.nextFive()
    (number25, number26, number27, number28, number29) = try reader.nextFive()
    (amount0, amount1, amount2, amount3, amount4) = try reader.nextFive()
    (amount5, amount6, amount7, amount8, amount9) = try reader.nextFive()
    (amount10, amount11, amount12, amount13, amount14) = try reader.nextFive()
    (amount15, amount16, amount17, amount18, amount19) = try reader.nextFive()
    (flag0, flag1, flag2, flag3, flag4) = try reader.nextFive()
    (flag5, flag6, flag7, flag8, flag9) = try reader.nextFive()
    (date0, date1, date2, date3, date4) = try reader.nextFive()
    (choice0, choice1, choice2, choice3) = try (reader.next(), reader.next(), reader.next(), reader.next())
  }
}
