import Foundation

exit(DemoCommand.run(arguments: Array(CommandLine.arguments.dropFirst())))
