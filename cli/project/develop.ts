import { createInterface } from 'node:readline'
import { isDeepStrictEqual } from 'node:util'
import type { Bot } from '#shared/models/bot.ts'
import { openChat } from '../chat/session.ts'
import type { Connection } from '../connection.ts'
import { describePayload } from '../chat/describe-payload.ts'
import { followLogs, formatLine } from '../events/follow-logs.ts'
import { failed } from '../failure.ts'
import { styled, type Output } from '../output.ts'
import { openTerminalChat } from '../chat/terminal.ts'
import { openBundler, type Bundle } from './bundle.ts'
import { showProblems } from './code-frame.ts'
import { deployProject } from './deploy.ts'
import { projectFile, readProject, type Project } from './project.ts'
import { describeDeployed, showDeployedBriefly } from './show-deployed.ts'
import { watchProject } from './watch.ts'

export interface DevelopOptions {
  output: Output
  /** Ends the development session. */
  signal: AbortSignal
  checksTypes: boolean
  bot?: string | undefined
  net?: string[] | undefined
}

/** Shows an occurrence: a document for programs, text for people. */
type Show = (document: object, text: string) => void

/**
 * Deploys a project at each change, shows the bot's log, and sends the lines of the terminal or of standard input to
 * the bot. Ends with the signal, or when the person at the terminal ends the chat.
 *
 * @throws Failure when the first deployment fails for another reason than the source
 */
export async function develop(project: Project, connection: Connection, options: DevelopOptions): Promise<void> {
  const { output, signal } = options
  await using parts = new AsyncDisposableStack()
  let current = project
  let bundler = await openBundler(current)
  parts.defer(() => bundler[Symbol.asyncDispose]())
  /** The declarations of isobot.json at the last deployment. */
  let applied = declarationsOf(current)
  const ended = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => ended.resolve(), { once: true })
  let show: Show = (document, text) => output.item(document, text)
  let session: Stage | undefined
  let inService: Bundle | undefined
  let wasWrong = false

  const readAgain = async () => {
    const fresh = await readProject(project.folder)
    if (!fresh) throw failed(`${projectFile} is gone: write it again`)
    const isOther = !isDeepStrictEqual(declarationsOf(fresh), declarationsOf(current))
    current = fresh
    if (!isOther) return
    const former = bundler
    bundler = await openBundler(fresh)
    await former[Symbol.asyncDispose]()
  }
  const deploy = async () => {
    await readAgain()
    const declarations = declarationsOf(current)
    const deployed = await deployProject(current, connection, bundler, {
      ...options,
      inService: isDeepStrictEqual(declarations, applied) ? inService : undefined,
      isStale: deployments.isDueAgain,
    })
    if (!deployed) {
      if (deployments.isDueAgain()) return
      if (wasWrong) show({ kind: 'unchanged' }, 'The source is again that of the deployed version')
      wasWrong = false
      return
    }
    wasWrong = 'problems' in deployed
    if ('problems' in deployed) {
      const { problems } = deployed
      const note = session ? 'the deployed version stays' : 'the bot has no version'
      const text = await showProblems(project.folder, problems)
      return show({ kind: 'problems', problems }, `${styled('red', 'Not deployed')}, ${note}.\n${text}`)
    }
    inService = deployed.bundle
    applied = declarations
    show({ kind: 'deployed', ...describeDeployed(deployed) }, showDeployedBriefly(deployed))
    if (session) return
    session = parts.use(await openSession(deployed.bot, connection, { output, ended: ended.resolve }))
    ;({ show } = session)
  }
  const deployments = oneAtATime(async () => {
    try {
      await deploy()
    } catch (error) {
      if (!session) return ended.reject(error)
      wasWrong = true
      const message = error instanceof Error ? error.message : String(error)
      show({ kind: 'failure', message }, `${styled('red', 'Not deployed')}: ${message}`)
    }
  })
  parts.use(await watchProject(project.folder, deployments.start))
  output.note(styled('dim', `Watching ${project.folder}; Ctrl-C ends it`))
  deployments.start()
  await ended.promise
  await deployments.settled()
}

/** The parts of isobot.json whose changes are applied: all but the ids of bots, which deployments write. */
function declarationsOf({ entry, settings: { bots: _bots, ...declared } }: Project): object {
  return { entry, ...declared }
}

/** The output of the session once the bot exists; it includes the bot's log and messages. */
interface Stage extends AsyncDisposable {
  show: Show
}

async function openSession(
  bot: Bot,
  connection: Connection,
  { output, ended }: { output: Output; ended: () => void },
): Promise<Stage> {
  const parts = new AsyncDisposableStack()
  const over = new AbortController()
  parts.defer(() => over.abort())
  const { url } = connection.profile
  let show: Show = (document, text) => output.item(document, text)
  if (process.stdin.isTTY && process.stdout.isTTY && !output.isJson) {
    const chat = parts.use(await openTerminalChat(bot, connection, { showsFailures: false }))
    show = (_document, text) => chat.print(text)
    void chat.ended.then(ended)
  } else {
    const session = parts.use(
      await openChat(bot, url, {
        received: (message) =>
          show({ kind: 'message', ...message }, `${bot.name} ${describePayload(message.payload).text}`),
      }),
    )
    const lines = createInterface({ input: process.stdin, signal: over.signal })
    lines.on('line', (line) => {
      if (line.trim() === '') return
      session
        .say({ text: line.trim() })
        .catch((error: Error) => show({ kind: 'failure', message: error.message }, error.message))
    })
  }
  void showLogs().catch((error: Error) => show({ kind: 'failure', message: error.message }, error.message))
  return { show, [Symbol.asyncDispose]: () => parts.disposeAsync() }

  async function showLogs(): Promise<void> {
    for await (const line of followLogs(connection, bot.id, {}, { signal: over.signal })) {
      show({ kind: 'log', ...line }, formatLine(line))
    }
  }
}

/** Runs work one at a time; starts during a run cause one more run after it. */
function oneAtATime(work: () => Promise<void>): { start(): void; isDueAgain(): boolean; settled(): Promise<void> } {
  let inFlight: Promise<void> | undefined
  let again = false
  const run = async () => {
    do {
      again = false
      await work()
    } while (again)
    inFlight = undefined
  }
  return {
    start() {
      if (inFlight) again = true
      else inFlight = run()
    },
    isDueAgain: () => again,
    async settled() {
      await inFlight
    },
  }
}
