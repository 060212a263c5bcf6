import { Command, CommanderError } from 'commander'
import { exitCodes, misused, type ExitCode } from './failure.ts'
import { reportFailure } from './report-failure.ts'
import { readVersion } from './version.ts'

/**
 * The commands by name, in the order of the help. The module of a command is loaded for this command and for the help;
 * the module imports its dependencies when the command runs.
 */
const commands: Record<string, () => Promise<(program: Command) => void>> = {
  start: async () => (await import('./commands/start.ts')).addStartCommand,
  init: async () => (await import('./commands/init.ts')).addInitCommand,
  import: async () => (await import('./commands/import.ts')).addImportCommand,
  dev: async () => (await import('./commands/dev.ts')).addDevCommand,
  test: async () => (await import('./commands/test.ts')).addTestCommand,
  run: async () => (await import('./commands/run.ts')).addRunCommand,
  deploy: async () => (await import('./commands/deploy.ts')).addDeployCommand,
  promote: async () => (await import('./commands/promote.ts')).addPromoteCommand,
  bots: async () => (await import('./commands/bots.ts')).addBotsCommand,
  chat: async () => (await import('./commands/chat.ts')).addChatCommand,
  webchat: async () => (await import('./commands/webchat.ts')).addWebchatCommand,
  logs: async () => (await import('./commands/logs.ts')).addLogsCommand,
  events: async () => (await import('./commands/events.ts')).addEventsCommand,
  conversations: async () => (await import('./commands/conversations.ts')).addConversationsCommand,
  inbox: async () => (await import('./commands/inbox.ts')).addInboxCommand,
  users: async () => (await import('./commands/users.ts')).addUsersCommand,
  integrations: async () => (await import('./commands/integrations.ts')).addIntegrationsCommand,
  secrets: async () => (await import('./commands/secrets.ts')).addSecretsCommand,
  files: async () => (await import('./commands/files.ts')).addFilesCommand,
  tables: async () => (await import('./commands/tables.ts')).addTablesCommand,
  models: async () => (await import('./commands/models.ts')).addModelsCommand,
  hub: async () => (await import('./commands/hub.ts')).addHubCommand,
  login: async () => (await import('./commands/login.ts')).addLoginCommand,
  members: async () => (await import('./commands/members.ts')).addMembersCommand,
  tokens: async () => (await import('./commands/tokens.ts')).addTokensCommand,
  audit: async () => (await import('./commands/audit.ts')).addAuditCommand,
  profiles: async () => (await import('./commands/profiles.ts')).addProfilesCommand,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctorCommand,
  backup: async () => (await import('./commands/backup.ts')).addBackupCommand,
  restore: async () => (await import('./commands/restore.ts')).addRestoreCommand,
  reencrypt: async () => (await import('./commands/reencrypt.ts')).addReencryptCommand,
}

const epilogue = `
A BOT is an id or a name. The platform is the one that \`isobot start\` runs here, the one of \`isobot login\`,
or the one that ISOBOT_URL and ISOBOT_TOKEN name.

Exit codes:
  0  done
  1  the command failed
  2  the command line is invalid
  3  the platform cannot be reached, or does not accept the token
`

/**
 * The whole command line, or the part of it that these parameters need: loading all commands takes longer than a short
 * command does.
 */
export async function createProgram([name = '']: readonly string[] = []): Promise<Command> {
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
  const needed = Object.hasOwn(commands, name) ? [commands[name]!] : Object.values(commands)
  for (const add of await Promise.all(needed.map((load) => load()))) add(program)
  return program
}

/** Runs a command line, and sets the exit code of the process. Never rejects. */
export async function runProgram(parameters: readonly string[]): Promise<void> {
  endWithReader()
  try {
    const program = await createProgram(parameters)
    await program.parseAsync(parameters, { from: 'user' })
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
