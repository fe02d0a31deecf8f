// The whole command requires the package trait Command, which brings swift-argument-parser.
#if Command
  import ArgumentParser
  import Foundation
  import GarageDriver

  /// `garage`: reads, checks, counts, cleans up and copies stores.
  struct GarageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "garage",
      abstract: "Looks into the stores of Garage, checks, counts, clears up, copies and rescues them.",
      discussion: """
        A store is the path of an SQLite file or of an LMDB folder; which of them it is, is found out by looking. Or it is \
        the URL of a PostgreSQL database, postgresql://user@host/database, with #name behind it where the store in it is \
        not called garage, if the command was built with PostgreSQL; backup, compact and salvage read files only. What only \
        reads opens the store for reading only, beside whoever else has it open, and never makes one.

        Exit status: 0 where all went well. 1 where something was found (by verify, diff, salvage or rekey), where what \
        cannot be read was left out, where what was asked for is not there, where a change is refused or something is in its \
        way, where standard output cannot be written, and after any other error. 2 for a wrong command line. 3 where a store \
        cannot be opened.
        """,
      subcommands: [
        ListCommand.self, GetCommand.self, KeysCommand.self, StatisticsCommand.self, VerifyCommand.self,
        CollectGarbageCommand.self, CopyCommand.self, BackupCommand.self, CompactCommand.self,
        ExportCommand.self,
        ImportCommand.self, SalvageCommand.self, RepairCommand.self, FindCommand.self, GraphCommand.self,
        DiffCommand.self, WatchCommand.self, RekeyCommand.self, ServeCommand.self, SetCommand.self,
        DeleteCommand.self,
      ])
  }

  /// The program. An error becomes a line on standard error, and an exit status.
  @main
  enum Program {
    static func main() {
      StandardStreams.takeClosedPlaces()
      do {
        var command = try GarageCommand.parseAsRoot()
        try command.run()
      } catch let failure as CommandFailure {
        Output.complain(failure.message)
        exit(failure.status)
      } catch let error where GarageCommand.exitCode(for: error) == .validationFailure {
        Output.complain(GarageCommand.fullMessage(for: error))
        exit(CommandFailure.usageStatus)
      } catch let error where error is ExitCode || GarageCommand.exitCode(for: error).isSuccess {
        // Help, or a command that answers by its status alone.
        GarageCommand.exit(withError: error)
      } catch {
        Output.complain("\(error)")
        exit(CommandFailure.findingStatus)
      }
    }
  }
#else
  /// Replaces the command if the trait is off.
  @main
  enum Program {
    static func main() {
      Output.complain(
        "built without its command line. Build it with 'make garage', or 'swift build --traits Command'.")
      Output.end(2)
    }
  }
#endif
