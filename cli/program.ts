import { Command, CommanderError } from 'commander'
import { addAuditCommand } from './commands/audit.ts'
import { addBackupCommand } from './commands/backup.ts'
import { addBotsCommand } from './commands/bots.ts'
import { addChatCommand } from './commands/chat.ts'
import { addConversationsCommand } from './commands/conversations.ts'
import { addDeployCommand } from './commands/deploy.ts'
import { addDevCommand } from './commands/dev.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addEventsCommand } from './commands/events.ts'
import { addFilesCommand } from './commands/files.ts'
import { addIntegrationsCommand } from './commands/integrations.ts'
import { addHubCommand } from './commands/hub.ts'
import { addInboxCommand } from './commands/inbox.ts'
import { addImportCommand } from './commands/import.ts'
import { addInitCommand } from './commands/init.ts'
import { addLoginCommand } from './commands/login.ts'
import { addLogsCommand } from './commands/logs.ts'
import { addMembersCommand } from './commands/members.ts'
import { addModelsCommand } from './commands/models.ts'
import { addPromoteCommand } from './commands/promote.ts'
import { addProfilesCommand } from './commands/profiles.ts'
import { addReencryptCommand } from './commands/reencrypt.ts'
import { addRestoreCommand } from './commands/restore.ts'
import { addRunCommand } from './commands/run.ts'
import { addSecretsCommand } from './commands/secrets.ts'
import { addStartCommand } from './commands/start.ts'
import { addTablesCommand } from './commands/tables.ts'
import { addTestCommand } from './commands/test.ts'
import { addTokensCommand } from './commands/tokens.ts'
import { addUsersCommand } from './commands/users.ts'
import { addWebchatCommand } from './commands/webchat.ts'
import { exitCodes, misused, type ExitCode } from './failure.ts'
import { reportFailure } from './report-failure.ts'
import { readVersion } from './version.ts'

/** Each function adds one command. Commands import their implementation when they run, so that help is fast. */
const commands = [
  addStartCommand,
  addInitCommand,
  addImportCommand,
  addDevCommand,
  addTestCommand,
  addRunCommand,
  addDeployCommand,
  addPromoteCommand,
  addBotsCommand,
  addChatCommand,
  addWebchatCommand,
  addLogsCommand,
  addEventsCommand,
  addConversationsCommand,
  addInboxCommand,
  addUsersCommand,
  addIntegrationsCommand,
  addSecretsCommand,
  addFilesCommand,
  addTablesCommand,
  addModelsCommand,
  addHubCommand,
  addLoginCommand,
  addMembersCommand,
  addTokensCommand,
  addAuditCommand,
  addProfilesCommand,
  addDoctorCommand,
  addBackupCommand,
  addRestoreCommand,
  addReencryptCommand,
]

const epilogue = `
A BOT is an id or a name. The platform is the one that \`isobot start\` runs here, the one of \`isobot login\`,
or the one that ISOBOT_URL and ISOBOT_TOKEN name.

Exit codes:
  0  done
  1  the command failed
  2  the command line is invalid
  3  the platform cannot be reached, or does not accept the token
`

/** The whole command line. */
export function createProgram(): Command {
  const program = new Command('isobot')
    .description('Runs Isobot; creates, deploys, monitors and chats with its bots.')
    .version(readVersion(), '-V, --version', 'print the version')
    .option('--json', 'print one JSON document, or one line of JSON for each item of a stream')
    .option('--profile <name>', 'the platform to use, from `isobot profiles list`')
    .option('--verbose', 'print errors with all details')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', epilogue)
    .exitOverride()
    // `report` prints invalid command lines like all other errors.
    .configureOutput({ outputError: () => {} })
  for (const add of commands) add(program)
  return program
}

/** Runs a command line, and sets the exit code of the process. Never rejects. */
export async function runProgram(parameters: readonly string[]): Promise<void> {
  endWithReader()
  try {
    await createProgram().parseAsync(parameters, { from: 'user' })
  } catch (error) {
    process.exitCode = report(error, parameters)
  }
}

function report(error: unknown, parameters: readonly string[]): ExitCode {
  const asked = { isJson: parameters.includes('--json'), isVerbose: parameters.includes('--verbose') }
  if (!(error instanceof CommanderError)) return reportFailure(error, asked)
  if (error.exitCode === 0) return exitCodes.ok
  // An argument was missing, and commander has printed the help.
  if (error.code === 'commander.help') return exitCodes.usage
  const problem = error.message
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean (?:one of )?(.+)\?\)$/, ': did you mean $1')
    .replace(/\.?$/, '')
  return reportFailure(misused(`${problem}. Add --help for the usage`), asked)
}

/** A reader that closes the pipe early, such as `head`, ends the command without an error. */
function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit()
    })
  }
}
