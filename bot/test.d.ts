/** `isobot/test`: a bot in an isolate of its own, without a platform, for the tests of its author. */

/** An object as JSON has it. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type JsonObject = Record<string, any>

/**
 * Answers to the calls of the bot, by operation, and those to `fetch` by address. A list has one answer for each call in
 * turn, and its last item answers all later calls. `{ error: 'ResourceNotFound' }` refuses the call.
 */
export interface ScriptedAnswers {
  [operation: string]: unknown
  fetch?: Record<string, unknown>
}

export interface DryRunOptions {
  answers?: ScriptedAnswers
  /** Whether outbound requests without a given answer are made. */
  allowsFetch?: boolean
}

/** A call of an operation by the bot, with its answer. */
export interface DryRunCall {
  operation: string
  input: JsonObject
  answer?: JsonObject
  /** The origin of the answer: given by the author, returned by the bot's own action or conversation, or made up. */
  source?: 'given' | 'own' | 'made up'
  /** The error of a refused call. */
  refusal?: { type: string; message: string }
}

/** An outbound request with its status, or the reason of its failure. */
export interface DryRunFetch {
  method: string
  url: string
  /** By lower-case name. */
  headers: Record<string, string>
  /** Text, or base64 where it is no text. */
  body?: string
  status?: number
  failure?: string
}

export interface LogLine {
  /** ISO 8601. */
  timestamp: string
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
}

export interface DryRunResult {
  status: 'done' | 'failed'
  /** The output of an action, or whether a hook stopped the pipeline. */
  result?: unknown
  /** `event.state` after the run. */
  state?: JsonObject
  error?: {
    reason: string
    /** The hook, action or card that failed, where it is known: `flow/node/card` for a card. */
    hook?: string
    name: string
    message: string
    stack: string
    place?: { file: string; line: number; column: number }
  }
  calls: DryRunCall[]
  fetches: DryRunFetch[]
  logs: LogLine[]
  milliseconds: number
  cpuMilliseconds: number
}

/** A message of the bot: its text, or for other types its fields with the type. */
export type Reply = string | ({ type: string } & JsonObject)

/** Variables with which a conversation or a flow begins, and those of the present moment, by scope. */
export interface Variables {
  workflow: JsonObject
  temp: JsonObject
  user: JsonObject
  conversation: JsonObject
  session: JsonObject
  bot: JsonObject
}

export interface ConversationOptions extends DryRunOptions {
  /** `event.state` at the beginning. */
  state?: Partial<Pick<Variables, 'user' | 'conversation' | 'session' | 'bot'>>
}

/** Where a conversation waits in the flows of the bot. */
export interface FlowPosition {
  flow: string
  node: string
  /** The card that waits. */
  card: string
  waitsFor: 'answer' | 'time' | 'handover'
  /** The flows that wait for the end of this one, the first of the conversation first. */
  callers: string[]
  versionId: string
  /** The end of the wait; absent for none. */
  until?: string
}

/** A conversation with the bot. Its events are handled one after the other, as on the platform. */
export interface Conversation {
  /**
   * Starts a flow, in the place of those in progress.
   *
   * @param at `flow`, or `flow/node` to start at a node
   * @param variables of the flow (`workflow`), and `temp`
   * @returns what the bot says until it waits
   */
  start(at: string, variables?: Partial<Pick<Variables, 'workflow' | 'temp'>>): Promise<Reply[]>
  /** Says a text, or sends another message: `{ text: 'Tea', value: 'tea' }`. @returns what the bot answers */
  say(message: string | JsonObject): Promise<Reply[]>
  /**
   * Has the bot receive an event other than a message, which may meet a trigger.
   *
   * @param event `conversation: false` for one outside of the conversation
   * @returns what the bot says
   */
  receive(event: { type: string; payload?: JsonObject; integration?: string; conversation?: boolean }): Promise<Reply[]>
  /** Lets the present wait, for an answer or for a time, elapse now. @returns what the bot says */
  timeout(): Promise<Reply[]>
  /** Hands the conversation back, as `resumeFlow`. @returns what the bot says */
  resume(): Promise<Reply[]>
  /** Where the conversation waits, as `getFlowPosition` shows it; undefined when no flow is in progress. */
  readonly position: FlowPosition | undefined
  readonly variables: Variables
  /** The calls, the outbound requests and the log since the last of these methods was called. */
  readonly calls: DryRunCall[]
  readonly fetches: DryRunFetch[]
  readonly logs: LogLine[]
}

/** The bot of a project. */
export interface TestedBot extends AsyncDisposable {
  readonly hooks: string[]
  readonly actions: string[]
  /**
   * Runs one hook on an event or, named `actions.<name>`, one action.
   *
   * @param given the event or a part of it; for an action, its input
   * @throws Failure when there is no such hook or action
   */
  run(name: string, given: JsonObject, options?: DryRunOptions): Promise<DryRunResult>
  /** Opens a conversation with the bot: its hooks and flows handle each event, and it keeps its state and position. */
  openConversation(options?: ConversationOptions): Conversation
  /** Ends the isolate. The open isolate keeps the test process alive. */
  close(): Promise<void>
}

/**
 * Bundles the project in a folder and opens an isolate with the bundle.
 *
 * @param folder the project's folder
 * @param secrets the values that the bot reads from `env`, by name: `{ SECRET_API_KEY: '…' }`
 */
export function openBot(folder: string, secrets?: Record<string, string>): Promise<TestedBot>

/** An integration of a project, installed on a bot. */
export interface TestedIntegration extends AsyncDisposable {
  /** Calls `register`, if the integration has it. */
  register(options?: DryRunOptions): Promise<DryRunResult>
  unregister(options?: DryRunOptions): Promise<DryRunResult>
  /** Has the handler answer a request, a POST unless `method` says otherwise; `result` is its response. */
  handle(
    request: {
      method?: string
      /** The rest of the path after the webhook's address. */
      path?: string
      /** Without the question mark. */
      query?: string
      headers?: Record<string, string>
      body?: string | Uint8Array
    },
    options?: DryRunOptions,
  ): Promise<DryRunResult>
  /** Has a channel send a message of the bot; `conversation`, `message` and `user` have fields of these, such as tags. */
  send(
    message: {
      channel: string
      type: string
      payload: JsonObject
      conversation?: JsonObject
      message?: JsonObject
      user?: JsonObject
    },
    options?: DryRunOptions,
  ): Promise<DryRunResult>
  /** Calls an action; `result` is its output. */
  callAction(name: string, input?: JsonObject, options?: DryRunOptions): Promise<DryRunResult>
  /** Ends the isolate. The open isolate keeps the test process alive. */
  close(): Promise<void>
}

/**
 * Bundles an integration of a project and opens an isolate with the bundle.
 *
 * @param folder the integration's folder, with `integration.json` and `index.ts`
 * @param installed its configuration, completed by the defaults of the schema, and the values that it reads from `env`
 */
export function openIntegration(
  folder: string,
  installed?: { configuration?: JsonObject; secrets?: Record<string, string> },
): Promise<TestedIntegration>
