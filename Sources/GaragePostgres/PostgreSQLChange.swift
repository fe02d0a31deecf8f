#if PostgreSQL
  /// What a write does to a key, before it is sent.
  enum PostgreSQLChange {
    case put([UInt8])
    case remove
  }
#endif
