// Key types with more cases than one byte tells, and with just as many.
struct ManyCases: Codable, Equatable {
  var value: Int
  enum Key: Int, CodingKey {
    case k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12, k13, k14
    case k15, k16, k17, k18, k19, k20, k21, k22, k23, k24, k25, k26, k27, k28, k29
    case k30, k31, k32, k33, k34, k35, k36, k37, k38, k39, k40, k41, k42, k43, k44
    case k45, k46, k47, k48, k49, k50, k51, k52, k53, k54, k55, k56, k57, k58, k59
    case k60, k61, k62, k63, k64, k65, k66, k67, k68, k69, k70, k71, k72, k73, k74
    case k75, k76, k77, k78, k79, k80, k81, k82, k83, k84, k85, k86, k87, k88, k89
    case k90, k91, k92, k93, k94, k95, k96, k97, k98, k99, k100, k101, k102, k103, k104
    case k105, k106, k107, k108, k109, k110, k111, k112, k113, k114, k115, k116, k117, k118, k119
    case k120, k121, k122, k123, k124, k125, k126, k127, k128, k129, k130, k131, k132, k133, k134
    case k135, k136, k137, k138, k139, k140, k141, k142, k143, k144, k145, k146, k147, k148, k149
    case k150, k151, k152, k153, k154, k155, k156, k157, k158, k159, k160, k161, k162, k163, k164
    case k165, k166, k167, k168, k169, k170, k171, k172, k173, k174, k175, k176, k177, k178, k179
    case k180, k181, k182, k183, k184, k185, k186, k187, k188, k189, k190, k191, k192, k193, k194
    case k195, k196, k197, k198, k199, k200, k201, k202, k203, k204, k205, k206, k207, k208, k209
    case k210, k211, k212, k213, k214, k215, k216, k217, k218, k219, k220, k221, k222, k223, k224
    case k225, k226, k227, k228, k229, k230, k231, k232, k233, k234, k235, k236, k237, k238, k239
    case k240, k241, k242, k243, k244, k245, k246, k247, k248, k249, k250, k251, k252, k253, k254
    case k255, k256, k257, k258, k259, k260, k261, k262, k263, k264, k265, k266, k267, k268, k269
    case k270, k271, k272, k273, k274, k275, k276, k277, k278, k279, k280, k281, k282, k283, k284
    case k285, k286, k287, k288, k289, k290, k291, k292, k293, k294, k295, k296, k297, k298, k299
  }
  init(value: Int) { self.value = value }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    value = 0
    for index in stride(from: 299, through: 0, by: -1) {
      guard let key = Key(rawValue: index) else { continue }
      let read = try container.decode(Int.self, forKey: key)
      if index == 0 { value = read } else if read != index { throw WrongField(index: index) }
    }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for index in 0..<300 {
      if let key = Key(rawValue: index) { try container.encode(index == 0 ? value : index, forKey: key) }
    }
  }
}

struct WrongField: Error { var index: Int }

struct CaseKeyed: Codable, Equatable {
  var index: Int
  enum Key: UInt8, CaseIterable, CodingKey {
    case k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12, k13, k14, k15
    case k16, k17, k18, k19, k20, k21, k22, k23, k24, k25, k26, k27, k28, k29, k30, k31
    case k32, k33, k34, k35, k36, k37, k38, k39, k40, k41, k42, k43, k44, k45, k46, k47
    case k48, k49, k50, k51, k52, k53, k54, k55, k56, k57, k58, k59, k60, k61, k62, k63
    case k64, k65, k66, k67, k68, k69, k70, k71, k72, k73, k74, k75, k76, k77, k78, k79
    case k80, k81, k82, k83, k84, k85, k86, k87, k88, k89, k90, k91, k92, k93, k94, k95
    case k96, k97, k98, k99, k100, k101, k102, k103, k104, k105, k106, k107, k108, k109, k110, k111
    case k112, k113, k114, k115, k116, k117, k118, k119, k120, k121, k122, k123, k124, k125, k126, k127
    case k128, k129, k130, k131, k132, k133, k134, k135, k136, k137, k138, k139, k140, k141, k142, k143
    case k144, k145, k146, k147, k148, k149, k150, k151, k152, k153, k154, k155, k156, k157, k158, k159
    case k160, k161, k162, k163, k164, k165, k166, k167, k168, k169, k170, k171, k172, k173, k174, k175
    case k176, k177, k178, k179, k180, k181, k182, k183, k184, k185, k186, k187, k188, k189, k190, k191
    case k192, k193, k194, k195, k196, k197, k198, k199, k200, k201, k202, k203, k204, k205, k206, k207
    case k208, k209, k210, k211, k212, k213, k214, k215, k216, k217, k218, k219, k220, k221, k222, k223
    case k224, k225, k226, k227, k228, k229, k230, k231, k232, k233, k234, k235, k236, k237, k238, k239
    case k240, k241, k242, k243, k244, k245, k246, k247, k248, k249, k250, k251, k252, k253, k254, k255
    var stringValue: String { "k\(rawValue)" }
    var intValue: Int? { nil }
    init?(stringValue: String) {
      guard let raw = UInt8(stringValue.dropFirst()) else { return nil }; self.init(rawValue: raw)
    }
    init?(intValue: Int) { nil }
  }
  init(index: Int) { self.index = index }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    index = -1
    for key in Key.allCases where try container.decode(Int.self, forKey: key) == -1 {
      index = Int(key.rawValue)
    }
  }
  /// All 256 keys in order: the longest shape of one key type.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for key in Key.allCases { try container.encode(Int(key.rawValue) == index ? -1 : 7, forKey: key) }
  }
}
