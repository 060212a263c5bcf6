import { randomUUID } from 'node:crypto'
import type { ByteSource, JsonObject, LogLine, RunRequest } from '#sandbox/protocol/contract.ts'
import type { Sandbox } from '#sandbox/sandbox.ts'
import { openSandbox } from '#sandbox/open-sandbox.ts'
import type { Compiled } from '#sandbox/compiler/contract.ts'
import { flowsFile } from '#sandbox/compiler/esbuild.ts'
import { refusedImport } from '#sandbox/compiler/refused-import.ts'
import { indexSourceMap, toSourceStack, type SourceMapIndex } from '#sandbox/compiler/source-map.ts'
import { checkFlows, InvalidFlowsError } from '#shared/flows/check-flows.ts'
import type { Flow } from '#shared/flows/flow.ts'
import { writeFlowScript } from '#shared/flows/flow-script.ts'
import { readLimits } from '#shared/config/limit-settings.ts'
import { hookNames } from '#shared/models/bot-code.ts'
import { limitHint } from '#shared/config/code-limits.ts'
import { botOperations } from '#shared/router.ts'
import { limitsOf } from '../../worker/execution/limits.ts'
import { failed, misused } from '../failure.ts'
import type { Bundle } from '../project/bundle.ts'
import { openAnswers, type ScriptedAnswers } from './answers.ts'
import { openConversation, type DryRunConversation, type Variables } from './conversation.ts'
import { toDryRunEvent } from './event.ts'
import { runDry, type DryRunCall, type DryRunFetch } from './host.ts'
import { toResult, type DryRunResult } from './result.ts'

export interface DryRunOptions {
  answers?: ScriptedAnswers
  /** Whether outbound requests without a given answer are made. */
  allowsFetch?: boolean
}

export interface ConversationOptions extends DryRunOptions {
  /** `event.state` at the beginning. */
  state?: Partial<Pick<Variables, 'user' | 'conversation' | 'session' | 'bot'>>
}

interface CallOptions extends DryRunOptions {
  streamed?: Record<string, () => ByteSource>
}

/** A bot's code in its own isolate without a platform: its calls are recorded, not executed. */
export interface DryRun extends AsyncDisposable {
  readonly hooks: string[]
  readonly actions: string[]
  /**
   * Runs one hook on an event or, named `actions.<name>`, one action.
   *
   * @param given the event or a part of it; for an action, its input
   * @throws Failure when there is no such hook or action
   */
  run(name: string, given: Record<string, unknown>, options?: DryRunOptions): Promise<DryRunResult>
  /** Opens a conversation with the bot: its hooks and flows handle each event, and it keeps its state and position. */
  openConversation(options?: ConversationOptions): DryRunConversation
  /**
   * Calls a function that the module exports, as those of integrations are called.
   *
   * @param path of the function, `['channels', 'room', 'messages', 'text']`; the first function on it is called
   * @param argument what it gets beside `client`, `logger` and `env`
   * @param options `streamed`: the fields of the argument that the code may read in parts
   */
  call(path: string[], argument: JsonObject, options?: CallOptions): Promise<DryRunResult>
}

const botId = 'bot_trial'

/**
 * Opens an isolate for a bundle.
 *
 * @param environment the secrets that the code reads from `env`
 * @throws Failure when the code does not load
 */
export async function openDryRun(bundle: Bundle, environment: Record<string, string> = {}): Promise<DryRun> {
  const sandbox = await openSandbox({
    processes: 1,
    operations: botOperations.map(({ name, method, path, streamsLines }) => ({
      name,
      method,
      path,
      ...(streamsLines === true && { streamsLines }),
    })),
    hooks: hookNames,
    log() {},
  })
  try {
    const base = await load(sandbox, bundle, environment)
    return {
      hooks: base.hooks,
      actions: base.actions,
      run: async (name, given, options = {}) => execute(base, taskFor(base, name, given), options),
      call: async (path, argument, options = {}) => execute(base, callOf(path, argument, options), options),
      openConversation: ({ state = {}, answers = {}, allowsFetch = false } = {}) =>
        openConversation({ ...base, context: { ...base, answers: openAnswers(answers, { allowsFetch }) }, state }),
      [Symbol.asyncDispose]: () => sandbox.close(),
    }
  } catch (error) {
    await sandbox.close()
    throw error
  }
}

interface Base extends Pick<RunRequest, 'bundle' | 'limits'> {
  sandbox: Sandbox
  hooks: string[]
  actions: string[]
  map: SourceMapIndex | undefined
  /** The flows of the bot, as JSON; none where it has none. */
  flows: Flow[]
}

/** Compiles a bundle, and evaluates it once. @throws Failure when the code does not load */
async function load(
  sandbox: Sandbox,
  { code, sourceMap, flows: given = [], hasFlowsOfCode }: Bundle,
  environment: Record<string, string>,
): Promise<Base> {
  const limits = limitsOf(readLimits({}))
  const evaluate = async (flows: object[]) => {
    const compiled = await compile(sandbox, { code, sourceMap, flows })
    // The source map is the author's own, so its size delays only the author.
    const map = indexSourceMap(compiled.native.sourceMap)
    const script = compiled.flows === undefined ? compiled.native.code : `${compiled.native.code}\n;${compiled.flows}`
    const bundle = { id: randomUUID(), botId, code: script, environment }
    const inspection = await sandbox.inspect(bundle, limits)
    if (inspection.status === 'interrupted')
      throw failed(`The inspection of the code was interrupted: ${inspection.reason}`)
    if (inspection.status === 'refused') throw refused(map, inspection)
    const { hooks, actions, flows: exported } = inspection
    if (exported !== undefined) assertFlows(exported)
    return { bundle, limits, hooks, actions, map, sandbox, flows: (exported ?? flows) as Flow[] }
  }
  if (!hasFlowsOfCode || given.length === 0) return evaluate(given)
  // Code that exports them itself refuses flows beside it.
  return evaluate(given).catch((refusal: unknown) =>
    evaluate([]).catch(() => {
      throw refusal
    }),
  )
}

/** @throws Failure when flows are not valid */
function assertFlows(flows: unknown): asserts flows is Flow[] {
  try {
    checkFlows(flows)
  } catch (error) {
    if (error instanceof InvalidFlowsError) throw failed(error.message, { cause: error })
    throw error
  }
}

/** @throws Failure when the code or its flows cannot be compiled, or when the code imports a missing module */
async function compile(
  { compiler }: Sandbox,
  { code, sourceMap, flows }: Required<Pick<Bundle, 'code' | 'sourceMap'>> & { flows: object[] },
): Promise<Compiled> {
  if (flows.length > 0) assertFlows(flows)
  const script = flows.length === 0 ? undefined : writeFlowScript(flows)
  const upload = { source: code, sourceMap, flows: script && `module.flows = ${script.text}` }
  const compiled = await compiler.compile(botId, async () => upload)
  if (compiled.status === 'exceeded') throw failed(compiled.problem)
  const refused = compiled.status === 'refused' ? compiled : refusedImport(compiled.imports)
  if (refused) {
    const { at, problem } = refused
    if (at?.file === flowsFile) throw failed(new InvalidFlowsError([{ ...script?.placeOf(at.line), problem }]).message)
    throw failed(at ? `${at.file}:${at.line}:${at.column}: ${problem}` : problem)
  }
  return compiled as Compiled
}

async function execute(base: Base, task: RunRequest['task'], options: CallOptions): Promise<DryRunResult> {
  const record = { calls: [] as DryRunCall[], fetches: [] as DryRunFetch[], logs: [] as LogLine[] }
  const answers = openAnswers(options.answers ?? {}, { allowsFetch: options.allowsFetch ?? false })
  const started = performance.now()
  const sources = options.streamed && { sources: options.streamed }
  const outcome = await runDry({ ...base, answers, record, ...sources }, randomUUID(), task)
  return { ...toResult(outcome, base.map), ...record, milliseconds: Math.round(performance.now() - started) }
}

/** As on the platform, only `register` and `unregister` may be missing. */
function callOf(path: string[], argument: JsonObject, { streamed = {} }: CallOptions): RunRequest['task'] {
  const optional = path[0]?.endsWith('register') ?? false
  const [field] = Object.keys(streamed)
  const readable = field !== undefined && { streamed: { field } }
  return { kind: 'call', path, optional, argument, addsContext: true, streamPrefix: 'trial/', ...readable }
}

/** @throws Failure when the code has no hook or action of that name that runs by itself */
function taskFor({ hooks, actions }: Base, name: string, given: Record<string, unknown>): RunRequest['task'] {
  const streamPrefix = 'trial/'
  if (name.startsWith('actions.')) {
    const action = name.slice('actions.'.length)
    if (!actions.includes(action)) throw misused(`The bot has no action "${action}"; ${listed('action', actions)}`)
    return { kind: 'action', name: action, input: given as JsonObject, event: toDryRunEvent({}), streamPrefix }
  }
  if (!hooks.includes(name)) throw misused(`The bot has no hook "${name}"; ${listed('hook', hooks)}`)
  if (/Outgoing|Call/.test(name)) {
    throw misused(`${name} runs when the bot sends a message: run the hook that sends it`)
  }
  return { kind: 'event', event: toDryRunEvent(given), stages: [name], streamPrefix }
}

function listed(what: string, names: string[]): string {
  return names.length === 0 ? `it has no ${what}s` : `it has ${names.join(', ')}`
}

function refused(
  map: SourceMapIndex | undefined,
  { error, reason }: { error: { name: string; message: string; stack?: string }; reason: string },
) {
  const { name, message, stack = '' } = error
  const frames = toSourceStack(stack, map)
  return failed(
    `The code does not load: ${name}: ${message}${limitHint(reason, name)}${frames && `\n${frames.replace(/^\n/, '')}`}`,
  )
}
