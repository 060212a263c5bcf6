/**
 * The types for authors of bots and integrations: `import type { Hooks } from 'isobot/bot'`. Generated from the
 * schemas of the platform's operations and the files in bot/parts by `npm run types`, and compared by
 * `npm run check`: change those.
 */

export {}

/**
 * Declarations of a bot, which the other types follow:
 *
 * ```ts
 * declare module 'isobot/bot' {
 *   interface UserState { visits?: number }
 *   interface Events { orderShipped: { orderId: string } }
 *   interface Actions extends ActionsOf<typeof actions> {}
 *   interface Secrets { API_KEY: string }
 * }
 * ```
 *
 * An interface that is not declared accepts any value. For events, the types of the platform are always known.
 */

/** State of the bot. */
export interface BotState {}
/** State of each user. */
export interface UserState {}
/** State of each conversation. */
export interface ConversationState {}
/** State of each conversation, deleted when the conversation has been inactive for 30 minutes. */
export interface SessionState {}
/** State of one event, while it is handled. */
export interface TempState {}

/** The types of events that the bot receives beside the platform's, each with its payload. */
export interface Events {}

/** The actions that the bot calls, by name, and those of its integrations as `alias:name`: each a function of its input. */
export interface Actions {}

/** The bot's secrets, by name. */
export interface Secrets {}

/** Any JSON object. */
export type JsonObject = Record<string, any>

/** The declared type, or any object where none is declared. */
type OrAnything<Declared> = [keyof Declared] extends [never] ? JsonObject : Declared

type ValueOf<Type> = Type[keyof Type]

/** JSON objects, saved when the event has been handled, of up to 128 KB each. */
export interface State {
  /** Of the bot, in each conversation. */
  bot: OrAnything<BotState>
  /** Of the user, in each conversation. */
  user: OrAnything<UserState>
  /** Of the conversation. */
  conversation: OrAnything<ConversationState>
  /** Of the conversation; deleted when it has been inactive for 30 minutes. */
  session: OrAnything<SessionState>
  /** Of this event; deleted when the event has been handled. */
  temp: OrAnything<TempState>
  /** Where the conversation stands in the bot's flows; absent for a bot without flows. */
  readonly context?: {
    readonly currentFlow?: string
    readonly currentNode?: string
    readonly currentCard?: string
    readonly previousFlow?: string
    readonly previousNode?: string
  }
}

// Messages

export type MessageType = keyof MessagePayloads

/** The payload of a message with its type: `if (payload.type === 'image') payload.imageUrl`. */
export type MessagePayload = ValueOf<{
  [Type in MessageType]: { type: Type; metadata?: JsonObject } & MessagePayloads[Type]
}>

/** The type and the payload of a message, as `createMessage` takes them. */
export type MessageContent = ValueOf<{
  [Type in MessageType]: { type: Type; payload: MessagePayloads[Type] & { metadata?: JsonObject } }
}>

// Events

interface EventBase<Type extends string, Payload> extends Omit<
  EventObject,
  'createdOn' | 'type' | 'payload' | 'state' | 'kb' | 'trigger'
> {
  createdOn: Date
  type: Type
  payload: Payload
  state: State
  /** Results of the last search of this event's code; absent until it has searched. It is not stored. */
  kb?: EventKnowledge
  /** The trigger of a flow that the event has met. */
  trigger?: EventTrigger
}

/** The trigger that starts a flow for an event. */
export interface EventTrigger {
  flowId: string
  /** The node at which the flow begins. */
  nodeId: string
  /** The type of the event. */
  eventName: string
  integration?: string
  conversationId?: string
  userId?: string
}

/** The knowledge of an event: of the last `searchFiles` of a hook or an action. */
export interface EventKnowledge {
  /** The knowledge bases that the search names by the tags `kbId` or `kbName`; all when it names none. */
  included: KnowledgeBase[]
  results?: EventKnowledgeResult[]
}

/** A passage that was found. */
export interface EventKnowledgeResult {
  content: string
  /** From 0 to 1. */
  score: number
  /** The title of its file, or the last part of the file's key. */
  dsFriendlyName: string
  dsId?: string
  dsType?: string
  kbId?: string
  kbName?: string
  fileId: string
  key: string
  title?: string
  url?: string
  pageNumber?: number
  position?: number
}

/** A user has sent a message to the bot. */
export interface IncomingMessage extends EventBase<'message_created', MessagePayload> {
  conversationId: string
  userId: string
  messageId: string
  integration: string
}

/** A chat client has created an event. */
interface CustomEventOfChat extends EventBase<'chat:custom', JsonObject> {
  conversationId: string
  userId: string
}

/** A state of the bot has expired. */
type StateExpired = EventBase<'state_expired', { state: StoredState }>

/** A conversation was created, and a flow of the bot begins with it. */
interface ConversationStarted extends EventBase<'conversation_started', { channel: string }> {
  conversationId: string
  /** The integration of the conversation. */
  integration: string
}

/** People have handed a conversation back, or the time of the handover is over. */
interface HandoverEnded extends EventBase<'handover_ended', { handoverId: string; status: 'resolved' | 'expired' }> {
  conversationId: string
}

/** The time of a flow's cron trigger has come. */
type FlowScheduled = EventBase<'flow_scheduled', { flow: string; trigger: string }>

/** The status of a workflow has changed. */
type WorkflowUpdate = EventBase<
  'workflow_update',
  {
    type:
      | 'workflow_started'
      | 'workflow_continued'
      | 'workflow_timedout'
      | 'child_workflow_finished'
      | 'child_workflow_deleted'
    workflow: Workflow
    conversation?: Conversation
    user?: User
    childWorkflow?: Workflow
  }
>

/** An event other than a message, distinguished by `type`. */
export type IncomingEvent =
  | CustomEventOfChat
  | StateExpired
  | ConversationStarted
  | FlowScheduled
  | HandoverEnded
  | WorkflowUpdate
  | ValueOf<{ [Type in keyof Events & string]: EventBase<Type, Events[Type]> }>

/** The event behind an action that was called over HTTP. */
type ActionTriggered = EventBase<'action_triggered', { type: string; input: JsonObject }>

/** An event that the bot handles. */
export type AnyEvent = IncomingMessage | IncomingEvent | ActionTriggered

// Hooks

export interface Logger {
  debug(...values: unknown[]): void
  info(...values: unknown[]): void
  warn(...values: unknown[]): void
  error(...values: unknown[]): void
}

/** The bot's secrets, each as `SECRET_<NAME>`. */
export type Environment = [keyof Secrets] extends [never]
  ? Readonly<Record<string, string | undefined>>
  : { readonly [Name in keyof Secrets & string as `SECRET_${Name}`]: string }

/** The argument of each hook and action. */
export interface Context<Event = AnyEvent> {
  /** The event that is handled. */
  event: Event
  /** The operations of the platform, with the rights of this bot. */
  client: Client
  /** The same as `event.state`. */
  state: State
  /** Writes to the bot's log, as `console` does. */
  logger: Logger
  env: Environment
}

/** The result of a hook: `data` replaces the value for the next hooks, `stop` ends the pipeline. */
export type HookResult<Data> = { data?: Data; stop?: boolean } | undefined | void

/** One hook, or a list of hooks that run in order. */
type Hook<Argument, Data> = HookFunction<Argument, Data> | readonly HookFunction<Argument, Data>[]
type HookFunction<Argument, Data> = (argument: Argument) => HookResult<Data> | Promise<HookResult<Data>>

/** A message of the bot, before it is stored. */
export type OutgoingMessage = CreateMessageInput

/** An action that the bot calls. */
export interface ActionCall {
  type: string
  input: JsonObject
}

/** The hooks of a bot: `export const hooks: Hooks = { … }`. */
export interface Hooks {
  /** A message has come in; runs before `afterIncomingMessage`. */
  beforeIncomingMessage?: Hook<Context<IncomingMessage>, IncomingMessage>
  /** A message has come in. */
  afterIncomingMessage?: Hook<Context<IncomingMessage>, IncomingMessage>
  /** Another event has come in; runs before `afterIncomingEvent`. */
  beforeIncomingEvent?: Hook<Context<IncomingEvent>, IncomingEvent>
  /** Another event has come in. */
  afterIncomingEvent?: Hook<Context<IncomingEvent>, IncomingEvent>
  /** The bot is about to send a message. `stop` prevents it. */
  beforeOutgoingMessage?: Hook<Context & { message: OutgoingMessage }, OutgoingMessage>
  /** The bot has sent a message. */
  afterOutgoingMessage?: Hook<Context & { message: Message }, Message>
  /** The bot is about to call an action. `stop` prevents it. */
  beforeCallAction?: Hook<Context & { action: ActionCall }, ActionCall>
  /** The bot has called an action. */
  afterCallAction?: Hook<Context & { action: ActionCall & { output: JsonObject } }, ActionCall & { output: JsonObject }>
  /** The flows of a conversation were ended: by the card `end`, after flow `end`, or by `endFlow`. */
  afterConversationEnd?: Hook<Context<FlowEvent>, FlowEvent>
  /** The event has been handled, even if a hook stopped the pipeline. */
  afterTurnEnd?: Hook<Context, AnyEvent>
}

/** The argument of an action. */
export interface ActionContext<Input = JsonObject> extends Context {
  input: Input
}

/** An action: a function of its input that returns a JSON object. */
export type Action<Input = JsonObject, Output extends object | void = object | void> = (
  argument: ActionContext<Input>,
) => Output | Promise<Output>

/** The types of `export const actions`, for `interface Actions extends ActionsOf<typeof actions> {}`. */
export type ActionsOf<Table> = {
  [Name in keyof Table]: Table[Name] extends (argument: ActionContext<infer Input>) => infer Output
    ? (input: Input) => Awaited<Output>
    : never
}

/**
 * `export const actionDefinitions: ActionDefinitions = { … }`: descriptions of the bot's own actions, by name, which
 * clients of the bot's MCP server get.
 */
export type ActionDefinitions = Record<string, ActionDefinition>

/** The description of an action. */
export interface ActionDefinition {
  title?: string
  /** The effect of the action, and when to call it. */
  description?: string
  /** The JSON Schema of the input: that of an object. */
  input?: JsonObject
}

/** `export const retry: Retry = { attempts: 3 }`: the number of attempts at an event whose hook throws. */
export interface Retry {
  /** From 1 to 10. */
  attempts: number
  /** Milliseconds before the second attempt, doubled for each further one; 1000 by default. */
  backoff?: number
}

// Flows

/** The event of an expression; its payload depends on its type. */
export interface FlowEvent extends EventBase<string, any> {
  conversationId?: string
  userId?: string
  messageId?: string
  integration?: string
}

/** The argument of an expression in a flow. */
export interface FlowScope extends Pick<State, 'bot' | 'user' | 'conversation' | 'session'> {
  event: FlowEvent
  /** Variables of all flows of the conversation, until they have ended. */
  temp: JsonObject
  /** Variables of the flow. */
  workflow: JsonObject
  env: Environment
  /** The time of the event. */
  now: Date
  /** The answer that `validate` examines. */
  value?: any
}

/** The argument of a code card. */
export interface FlowCodeScope extends Omit<FlowScope, 'value'> {
  client: Client
  /** The same as `event.state`. */
  state: State
  logger: Logger
}

/** An expression: a function of the event and the variables. */
export type FlowExpression = (scope: FlowScope) => unknown

/** The function of a code card. It may return the name of a port. */
export type FlowCode = (scope: FlowCodeScope) => string | void | Promise<string | void>

/** A JSON value, in which functions stand for their results, and `{{ path }}` in texts for variables. */
export type FlowValue =
  | string
  | number
  | boolean
  | null
  | FlowExpression
  | readonly FlowValue[]
  | { readonly [name: string]: FlowValue }

/** A text, a message with its type and its payload’s fields, or an expression. */
export type FlowMessage = string | FlowExpression | { readonly type: string; readonly [field: string]: FlowValue }

/** A node of the flow, `flow/node`, or `flow/` for the start of another flow. Null ends the flow. */
export type FlowDestination = string | null

/** A variable. */
export type FlowVariable = `${'workflow' | 'temp' | 'session' | 'user' | 'conversation' | 'bot'}.${string}`

// The client

type InputOf<Declared> = Declared extends (input: infer Input) => any ? Input : JsonObject
type OutputOf<Declared> = Declared extends (...input: any[]) => infer Output ? Awaited<Output> : JsonObject

/** The operations that bot code may call. They throw an `ApiError`. */
export interface Client extends Omit<Operations, 'callAction'> {
  /** Calls an action of the bot, or of an integration as `alias:action`, and returns its output. */
  callAction<Name extends ([keyof Actions] extends [never] ? string : keyof Actions)>(
    input: Name extends keyof Actions
      ? { type: Name; input: InputOf<Actions[Name]> }
      : { type: string; input: JsonObject },
  ): Promise<{ output: Name extends keyof Actions ? OutputOf<Actions[Name]> : JsonObject; meta: { cached: boolean } }>
  /** Starts a message that chat clients show while it is written. */
  streamMessage(conversationId: string): MessageStream
}

/** A message that chat clients show while it is written. One that is left open ends with its event. */
export interface MessageStream {
  readonly id: string
  /** Appends text. */
  write(text: string): Promise<void>
  /** Sends the message: all text that was written, or the given message. */
  end(message?: MessageContent & { tags?: Record<string, string> }): Promise<{ message: Message }>
  /** Discards the message. */
  abort(): Promise<void>
}

/** The error of an operation that was refused or failed. */
export interface ApiError extends Error {
  name: 'ApiError'
  /** The id of the error in the platform's log. */
  id: string
  /** The HTTP status. */
  code: number
  type: ApiErrorType
  metadata?: JsonObject
}

// Integrations

/** The installation of an integration. */
export interface InstallationContext<Configuration = JsonObject> {
  botId: string
  integrationId: string
  integrationAlias: string
  configuration: Configuration
  configurationType: string | null
  webhookId: string
  /** The address whose requests its `handler` receives. */
  webhookUrl: string
}

/** The argument of each function of an integration. */
export interface IntegrationContext<Configuration = JsonObject> {
  ctx: InstallationContext<Configuration>
  client: Client
  logger: Logger
  env: Environment
}

/** A request to an integration's webhook. */
export interface WebhookRequest {
  method: string
  /** The rest of the path after the webhook's address; percent-encoded. */
  path: string
  /** Without the question mark. */
  query: string
  /** By lower-case name. */
  headers: Record<string, string>
  /** For a body that is larger than a quarter of the isolate's memory, it throws a `RangeError`: use `stream`. */
  body?: string
  /** Whether `body` is base64, because the body is not text. */
  isBase64?: boolean
  /** Reads the body in parts of up to 64 KB, however large it is, each time from its beginning; at most 16 times. */
  stream(): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>
}

/** The response of a webhook's handler. */
export type WebhookResponse =
  | {
      /** 200 by default. */
      status?: number
      headers?: Record<string, string>
      /** A string is sent unchanged, any other value as JSON. */
      body?: unknown
      /** Whether `body` is base64. */
      isBase64?: boolean
    }
  | undefined
  | void

type Returns<Value> = Value | Promise<Value>

/** `export const register: Register = …`, and `unregister` alike. */
export type Register<Configuration = JsonObject> = (argument: IntegrationContext<Configuration>) => Returns<void>

/** `export const handler: WebhookHandler = …`. */
export type WebhookHandler<Configuration = JsonObject> = (
  argument: IntegrationContext<Configuration> & { request: WebhookRequest },
) => Returns<WebhookResponse>

/** Sends a message of the bot in a conversation of an integration. */
export type Delivery<Configuration = JsonObject> = (
  argument: IntegrationContext<Configuration> &
    MessageContent & { message: Message; conversation: Conversation; user?: User },
) => Returns<void>

/** `export const channels: Channels = …`: for each, one function for all messages, or one for each type. */
export interface Channels<Configuration = JsonObject> {
  [channel: string]: Delivery<Configuration> | { messages: { [type: string]: Delivery<Configuration> } }
}

/** An action of an integration. */
export type IntegrationAction<
  Input = JsonObject,
  Output extends object | void = object | void,
  Configuration = JsonObject,
> = (argument: IntegrationContext<Configuration> & { input: Input }) => Returns<Output>

/** A flow: a conversation as a graph of nodes. `export const flows: Flow[]` declares those of a bot. */
export interface Flow {
  /** At most 64 letters, digits, _ and -. */
  id: string
  /** The node at which the flow begins. */
  start: string
  name?: string
  description?: string
  /** The variables of the flow, `workflow.<name>`, with their values at its start. */
  variables?: {
    [Name in string]: {
      default?: FlowValue
      description?: string
    }
  }
  /** Where the flow continues after a card has failed. */
  onError?: FlowDestination
  /** How long a card waits for an answer, 0 for ever, and where the flow continues then; default: 1800 seconds and flow `timeout`. */
  timeout?: {
    seconds: number
    /** A node of the flow, `flow/node`, or `flow/` for the start of another flow. Null ends the flow. */
    to?: FlowDestination
  }
  /** Routes that an answer to a waiting card takes before the card reads it. */
  always?: Array<{
    if: FlowExpression
    /** A node of the flow, `flow/node`, or `flow/` for the start of another flow. Null ends the flow. */
    to: FlowDestination
  }>
  triggers?: Array<{
    /** At most 64 letters, digits, _ and -. */
    id: string
    /** The type of the events that start the flow; `alias:type` for those of an integration, `conversation_started` for a new conversation. */
    event?: string
    /** In the place of `event`: the times at which the flow starts, as a cron expression in UTC. */
    cron?: string
    /** The name of the integration that sent the event. */
    integration?: string
    /** Whether the event starts the flow. */
    filter?: FlowExpression
    /** Whether the flow starts although another one waits for an answer, which then waits on. */
    interrupts?: boolean
  }>
  nodes: FlowNode[]
}

/** A node of a flow: cards that run in order. */
export interface FlowNode {
  /** At most 64 letters, digits, _ and -. */
  id: string
  name?: string
  /** Where the flow continues after the last card. Absent or null: it ends. */
  next?: FlowDestination
  cards: FlowCard[]
}

/** A card: one step of a node. */
export type FlowCard =
  | SayCard
  | ChoiceCard
  | CaptureCard
  | ConditionCard
  | RouterCard
  | SetCard
  | CodeCard
  | ActionCard
  | HttpCard
  | CallCard
  | JumpCard
  | WaitCard
  | EmitCard
  | KnowledgeCard
  | AiCard
  | AiRouterCard
  | HandoverCard
  | LogCard
  | CommentCard
  | EndCard

/** Sends a message to the conversation. */
export interface SayCard {
  id: string
  type: 'say'
  /** A text, or a message as clients send it: `{ "type": "image", … }`. */
  message?: FlowMessage
  /** Messages of which one is sent, instead of `message`. */
  variants?: Array<FlowMessage>
  /** Messages by language, sent instead of `message` to users whose `user.language` it is. */
  translations?: { [Name in string]: FlowMessage }
  /** Where the flow continues, by port. */
  ports?: { [Port in 'error']?: FlowDestination }
}

/** Asks the user to select an option, and waits. An answer matches an option by its value, its label, its number in the list, one of its words, or a label that it contains. The port is the value of the option. */
export interface ChoiceCard {
  id: string
  type: 'choice'
  options:
    | Array<{
        label: string
        value: string
        words?: Array<string>
      }>
    | FlowExpression
  /** A text, or a message as clients send it: `{ "type": "image", … }`. */
  message?: FlowMessage
  /** Messages of which one is sent, instead of `message`. */
  variants?: Array<FlowMessage>
  /** Messages by language, sent instead of `message` to users whose `user.language` it is. */
  translations?: { [Name in string]: FlowMessage }
  /** Default: `buttons`. */
  as?: 'buttons' | 'dropdown' | 'text'
  /** Whether an answer that contains exactly one label matches its option. Default: true. */
  contains?: boolean
  /** The variable that receives the value of the option. */
  variable?: FlowVariable
  /** How often the card asks again. Default: 3. */
  retries?: number
  /** Sent before the question is asked again. */
  retryMessage?: FlowMessage
  /** Answers that leave by the port `cancel`. */
  cancel?: Array<string>
  /** Where the flow continues, by port. */
  ports?: { [Port in string]?: FlowDestination }
}

/** Asks a question, waits for the answer, and stores it in a variable. */
export interface CaptureCard {
  id: string
  type: 'capture'
  /** The variable that receives the answer. */
  variable: FlowVariable
  /** A text, or a message as clients send it: `{ "type": "image", … }`. */
  message?: FlowMessage
  /** Messages of which one is sent, instead of `message`. */
  variants?: Array<FlowMessage>
  /** Messages by language, sent instead of `message` to users whose `user.language` it is. */
  translations?: { [Name in string]: FlowMessage }
  /** The kind of answer that is accepted. Default: `any`, which stores the text of any message. */
  kind?: 'any' | 'text' | 'number' | 'integer' | 'boolean' | 'email' | 'phone' | 'url' | 'date' | 'location' | 'file'
  /** Whether the answer is accepted; the expression finds it as `value`. */
  validate?: FlowExpression
  /** Whether nothing is asked when the variable has a value. */
  skipWhenFilled?: boolean
  /** How often the card asks again. Default: 3. */
  retries?: number
  /** Sent before the question is asked again. */
  retryMessage?: FlowMessage
  /** Answers that leave by the port `cancel`. */
  cancel?: Array<string>
  /** Where the flow continues, by port. */
  ports?: { [Port in 'failed' | 'cancel' | 'error']?: FlowDestination }
}

/** Continues at one of two ports. */
export interface ConditionCard {
  id: string
  type: 'condition'
  if: FlowExpression
  /** Where the flow continues, by port. */
  ports?: { [Port in 'true' | 'false' | 'error']?: FlowDestination }
}

/** Continues at the port of the first case that holds. */
export interface RouterCard {
  id: string
  type: 'router'
  cases: Array<{
    port: string
    if: FlowExpression
  }>
  /** Where the flow continues, by port. */
  ports?: { [Port in string]?: FlowDestination }
}

/** Sets variables, in order, and removes others. */
export interface SetCard {
  id: string
  type: 'set'
  /** Values by variable, for instance `workflow.count`. */
  values?: { [Name in FlowVariable]: FlowValue }
  remove?: Array<FlowVariable>
  /** Where the flow continues, by port. */
  ports?: { [Port in 'error']?: FlowDestination }
}

/** Runs JavaScript or TypeScript: the body of an async function. It may return the name of a port. */
export interface CodeCard {
  id: string
  type: 'code'
  /** It finds `event`, `state`, `workflow`, `temp`, `client`, `env` and `logger`. */
  code: FlowCode
  /** Where the flow continues, by port. */
  ports?: { [Port in string]?: FlowDestination }
}

/** Calls an action of the bot, or of an integration as `alias:name`. */
export interface ActionCard {
  id: string
  type: 'action'
  action: string
  input?: { [Name in string]: FlowValue }
  /** The variable that receives the output. */
  output?: FlowVariable
  /** Where the flow continues, by port. */
  ports?: { [Port in 'error']?: FlowDestination }
}

/** Requests an address of a host that the bot may reach. */
export interface HttpCard {
  id: string
  type: 'http'
  url: string | FlowExpression
  /** Default: `GET`. */
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: { [Name in string]: FlowValue }
  /** A text, or a value that is sent as JSON. */
  body?: FlowValue
  /** The variable that receives `{ status, body }`; a body of JSON is parsed. */
  output?: FlowVariable
  /** Where the flow continues, by port. */
  ports?: { [Port in 'error']?: FlowDestination }
}

/** Runs another flow with variables of its own, and continues when that flow has ended. */
export interface CallCard {
  id: string
  type: 'call'
  flow: string
  /** The variables with which the flow begins. */
  input?: { [Name in string]: FlowValue }
  /** The variables that receive variables of the flow at its end, by the names in that flow. */
  output?: { [Name in string]: FlowVariable }
  /** Where the flow continues, by port. */
  ports?: { [Port in 'error']?: FlowDestination }
}

/** Continues at another node or flow, without a return. */
export interface JumpCard {
  id: string
  type: 'jump'
  /** A node of the flow, `flow/node`, or `flow/` for the start of another flow. Null ends the flow. */
  to: FlowDestination
  /** Where the flow continues, by port. */
  ports?: { [Port in 'error']?: FlowDestination }
}

/** Waits for a time. A message that arrives meanwhile does not end the wait, unless a route of `always` takes it. */
export interface WaitCard {
  id: string
  type: 'wait'
  seconds: number | FlowExpression
  /** Where the flow continues, by port. */
  ports?: { [Port in 'error']?: FlowDestination }
}

/** Creates an event of the bot. */
export interface EmitCard {
  id: string
  type: 'emit'
  event: string
  payload?: { [Name in string]: FlowValue }
  /** The id of the conversation of the event. Default: that of the present event, if it has one. */
  conversation?: string | FlowExpression
  delaySeconds?: number | FlowExpression
  /** Where the flow continues, by port. */
  ports?: { [Port in 'error']?: FlowDestination }
}

/** Searches the knowledge of the bot. Its findings are `event.kb` for the rest of the event. */
export interface KnowledgeCard {
  id: string
  type: 'knowledge'
  question: string | FlowExpression
  /** The names of the knowledge bases to search. Default: all. */
  knowledgeBases?: Array<string>
  /** Default: 5. */
  limit?: number
  /** The variable that receives the results, as in `event.kb.results`. */
  output?: FlowVariable
  /** Where the flow continues, by port. */
  ports?: { [Port in 'none' | 'error']?: FlowDestination }
}

/** Asks a language model, and sends its answer while the model writes it. */
export interface AiCard {
  id: string
  type: 'ai'
  /** Instructions for the model, before all messages. */
  instructions?: string | FlowExpression
  /** The last message for the model. Default: the text of the message of the event. */
  question?: string | FlowExpression
  /** How many earlier messages of the conversation the model gets. Default: 0. */
  history?: number
  /** `provider:model`, `auto`, `fast` or `best`; several in order of preference. Default: `auto`. */
  model?: string | Array<string>
  temperature?: number
  /** Upper bound of the answer. */
  maxTokens?: number
  /** Whether the model answers only from what a card `knowledge` before it has found (`event.kb`). Default: false. */
  knowledge?: boolean
  /** The JSON Schema of the answer, which is then a value. */
  schema?: { [Name in string]: FlowValue }
  /** The variable that receives the answer. */
  output?: FlowVariable
  /** Whether the answer is sent. Default: true, unless the card has `output` or `schema`. */
  say?: boolean
  /** Where the flow continues, by port. */
  ports?: { [Port in 'error']?: FlowDestination }
}

/** Continues at the port of the case that a language model finds to fit the message. */
export interface AiRouterCard {
  id: string
  type: 'aiRouter'
  cases: Array<{
    port: string
    /** The messages of the case, in words for the model. */
    description: string | FlowExpression
  }>
  /** Instructions for the model, before all messages. */
  instructions?: string | FlowExpression
  /** The last message for the model. Default: the text of the message of the event. */
  question?: string | FlowExpression
  /** How many earlier messages of the conversation the model gets. Default: 0. */
  history?: number
  /** `provider:model`, `auto`, `fast` or `best`; several in order of preference. Default: `auto`. */
  model?: string | Array<string>
  temperature?: number
  /** Upper bound of the answer. */
  maxTokens?: number
  /** The variable that receives the name of the port. */
  output?: FlowVariable
  /** Where the flow continues, by port. */
  ports?: { [Port in string]?: FlowDestination }
}

/** Hands the conversation over to people: hooks and flows of the bot do not run there until it is handed back. Creates the event `handover_started` without a conversation. */
export interface HandoverCard {
  id: string
  type: 'handover'
  reason?: string | FlowExpression
  /** Where the flow continues, by port. */
  ports?: { [Port in 'resumed' | 'error']?: FlowDestination }
}

/** Writes a line to the log of the bot. */
export interface LogCard {
  id: string
  type: 'log'
  message: string | FlowExpression
  /** Default: `info`. */
  level?: 'debug' | 'info' | 'warn' | 'error'
  /** Where the flow continues, by port. */
  ports?: { [Port in 'error']?: FlowDestination }
}

/** Does nothing; a note for readers. */
export interface CommentCard {
  id: string
  type: 'comment'
  text: string
  /** Where the flow continues, by port. */
  ports?: { [Port in 'error']?: FlowDestination }
}

/** Ends the conversation’s flows: flow `end` runs, if the bot has one; then the position and the session are cleared. */
export interface EndCard {
  id: string
  type: 'end'

  /** Where the flow continues, by port. */
  ports?: { [Port in 'error']?: FlowDestination }
}

interface EventObject {
  /** Stays the same when the event is handled again; serves as an idempotency key. */
  id: string
  botId: string
  createdOn: string
  /** From the user to the bot, or from the bot to the user. */
  direction: 'incoming' | 'outgoing'
  /** `message_created` for messages. */
  type: string
  /** The event’s data; for a message, its `type` and its content. */
  payload: JsonObject
  /** The plain text of the payload; for a text message, its text. */
  preview: string
  state: {
    /** State of the bot, for all users and conversations. */
    bot: JsonObject
    /** State of the user, for all conversations. */
    user: JsonObject
    /** State of the conversation. */
    conversation: JsonObject
    /** State of the conversation; expires after 30 minutes without an event. */
    session: JsonObject
    /** State of this event; deleted after its handling. */
    temp: JsonObject
    context?: {
      currentFlow?: string
      currentNode?: string
      currentCard?: string
      previousFlow?: string
      previousNode?: string
    }
  }
  tags: { conversation?: Record<string, string>; message?: Record<string, string>; user?: Record<string, string> }
  conversationId?: string
  userId?: string
  messageId?: string
  /** The name of the integration that the event came through. */
  integration?: string
  kb?: {
    /** The knowledge bases of the search. */
    included: JsonObject[]
    /** The passages that it found. */
    results?: JsonObject[]
  }
  trigger?: {
    flowId: string
    nodeId: string
    eventName: string
    integration?: string
    conversationId?: string
    userId?: string
  }
}

/** Payloads of messages by type. Declare the types of integrations here. */
export interface MessagePayloads {
  text: {
    text: string
    /** The value of the option that the user selected; `text` is its label. */
    value?: string
  }
  markdown: { markdown: string }
  image: { imageUrl: string }
  audio: { audioUrl: string }
  video: { videoUrl: string }
  file: { fileUrl: string; title?: string }
  location: { latitude: number; longitude: number; address?: string; title?: string }
  card: {
    title: string
    subtitle?: string
    imageUrl?: string
    actions: Array<{ action: 'postback' | 'url' | 'say'; label: string; value: string }>
  }
  carousel: { items: Array<MessagePayloads['card'] & { type?: 'card' }> }
  choice: { text: string; options: Array<{ label: string; value: string }> }
  dropdown: { text: string; options: Array<{ label: string; value: string }> }
  bloc: { items: MessageContent[] }
}

export interface AddParticipantInput {
  id: string
  userId: string
}

export interface AddParticipantOutput {
  participant: User
}

export interface CallActionInput {
  type: string
  input: JsonObject
}

export interface CallActionOutput {
  output: JsonObject
  meta: { cached: boolean }
}

export interface CancelScheduledEventInput {
  id: string
}

export type CancelScheduledEventOutput = Record<string, never>

export interface CaptureObservationInput {
  name: string
  data: JsonObject
  id?: string
  messageId?: string
  eventId?: string
  conversationId?: string
  userId?: string
  errorId?: string
  traceId?: string
}

export type CaptureObservationOutput = Record<string, never>

export interface ConfigureIntegrationInput {
  /** Identifies this installation among all installations of the integration; null removes the identifier. */
  identifier?: string | null
  /** The schedule of calls of `register()`. */
  scheduleRegisterCall?: 'hourly' | 'daily' | 'weekly' | 'bi-weekly' | 'monthly' | 'bi-monthly' | 'quarterly' | 'yearly'
  /** Experimental; null removes all. */
  sandboxIdentifiers?: Record<string, never> | null
}

export type ConfigureIntegrationOutput = Record<string, never>

export interface CopyFileInput {
  idOrKey: string
  destinationKey: string
  /** Whether a file of that key is replaced; not unless given. */
  overwrite?: boolean
  /** The bot that gets the copy, if it is another one. */
  'x-destination-bot-id'?: string
}

export interface CopyFileOutput {
  file: StoredFile
}

export interface CreateConversationInput {
  channel: string
  tags?: Record<string, string>
  properties?: Record<string, string>
  /** For bots: the integration of the conversation; default: the chat. */
  integrationName?: string
}

export interface CreateConversationOutput {
  conversation: Conversation
}

export interface CreateEventInput {
  type: string
  payload: JsonObject
  conversationId?: string
  userId?: string
  messageId?: string
  workflowId?: string
  /** The time of the event: either dateTime or delay. */
  schedule?: {
    /** The time, ISO 8601. */
    dateTime?: string
    /** Milliseconds from now, instead of dateTime. */
    delay?: number
  }
}

export interface CreateEventOutput {
  event: StoredEvent
}

export interface CreateKnowledgeBaseInput {
  name: string
  tags?: Record<string, string>
}

export interface CreateKnowledgeBaseOutput {
  knowledgeBase: KnowledgeBase
}

export type CreateMessageInput = MessageContent & {
  conversationId: string
  /** The author; default: the bot. */
  userId?: string
  tags?: Record<string, string>
  origin?: 'synthetic'
  /** The time of the event: either dateTime or delay. */
  schedule?: {
    /** The time, ISO 8601. */
    dateTime?: string
    /** Milliseconds from now, instead of dateTime. */
    delay?: number
  }
}

export interface CreateMessageOutput {
  message: Message
}

export interface CreateTableInput {
  /** Letters, digits and underscores; it ends in `Table`. */
  name: string
  /** A JSON Schema with `properties`, a map of columns to JSON Schemas, or a map of columns to example values. */
  schema: JsonObject
  factor?: number
  frozen?: boolean
  keyColumn?: string | null
  tags?: Record<string, string>
  isComputeEnabled?: boolean
}

export interface CreateTableOutput {
  table: Table
}

export interface CreateTableRowsInput {
  /** The id or the name of a table. */
  table: string
  rows: JsonObject[]
  waitComputed?: boolean
}

export interface CreateTableRowsOutput {
  rows: TableRow[]
  /** Columns that the table lacks. */
  warnings?: string[]
  /** Rows that were not stored, and why. */
  errors?: string[]
}

export interface CreateUserInput {
  tags?: Record<string, string>
  properties?: Record<string, string>
  name?: string
  pictureUrl?: string
  /** For bots: the integration of the user, if any. */
  integrationName?: string
}

export interface CreateUserOutput {
  user: User
}

export interface CreateWorkflowInput {
  name: string
  status: 'pending' | 'in_progress' | 'listening'
  input?: JsonObject
  parentWorkflowId?: string
  conversationId?: string
  userId?: string
  /** Default: in one day. */
  timeoutAt?: string
  tags?: Record<string, string>
  /** The event that the bot is handling; required with the status in_progress. */
  eventId?: string
}

export interface CreateWorkflowOutput {
  workflow: Workflow
}

export interface DeleteConversationInput {
  id: string
}

export type DeleteConversationOutput = Record<string, never>

export interface DeleteFileInput {
  /** Its id, or its key. */
  id: string
}

export type DeleteFileOutput = Record<string, never>

export interface DeleteKnowledgeBaseInput {
  id: string
}

export type DeleteKnowledgeBaseOutput = Record<string, never>

export interface DeleteMessageInput {
  id: string
}

export type DeleteMessageOutput = Record<string, never>

export interface DeleteTableInput {
  /** The id or the name of a table. */
  table: string
}

export type DeleteTableOutput = Record<string, never>

export interface DeleteTableRowsInput {
  /** The id or the name of a table. */
  table: string
  ids?: number[]
  /** Conditions by column, as of `findTableRows`. */
  filter?: JsonObject
  deleteAllRows?: boolean
}

export interface DeleteTableRowsOutput {
  deletedRows: number
}

export interface DeleteUserInput {
  id: string
}

export type DeleteUserOutput = Record<string, never>

export interface DeleteWorkflowInput {
  id: string
}

export type DeleteWorkflowOutput = Record<string, never>

export interface DuplicateTableInput {
  /** The id or the name of a table. */
  sourceTableId: string
  /** Letters, digits and underscores; it ends in `Table`. */
  tableName?: string
  schemaOnly?: boolean
  factor?: number
}

export interface DuplicateTableOutput {
  table: Table
  rows: number
}

export interface EndFlowInput {
  conversationId: string
}

export interface EndFlowOutput {
  event: StoredEvent
}

export interface EndHandoverInput {
  conversationId: string
}

export interface EndHandoverOutput {
  handover: {
    id: string
    conversationId: string
    /** `pending`: no member answers yet; `assigned`: a member does; `resolved` and `expired`: it has ended. */
    status: 'pending' | 'assigned' | 'resolved' | 'expired'
    /** `integration`: begun through the inbox, where a plugin of the bot copies the messages. */
    requestedBy: 'bot' | 'member' | 'integration'
    /** The integration of the conversation. */
    integration: string
    channel: string
    createdAt: string
    title?: string
    description?: string
    member?: {
      /** The member’s account. */
      id: string
      name: string
      pictureUrl?: string
    }
    user?: { id: string; name?: string }
    assignedAt?: string
    firstReplyAt?: string
    /** The time at which it ends by itself. */
    expiresAt?: string
    endedAt?: string
  }
}

export interface ExportTableInput {
  /** The id or the name of a table. */
  table: string
  format?: 'csv' | 'json'
  /** By gzip. */
  compress?: boolean
}

export interface ExportTableOutput {
  job: {
    id: string
    botId: string
    tableId: string
    type: 'import' | 'export'
    status: 'pending' | 'in_progress' | 'finalizing' | 'completed' | 'failed'
    /** In percent. */
    progress: number
    inputFileId: string | null
    /** The file of a completed export. */
    outputFileId: string | null
    createdAt: string
    updatedAt: string
    /** Why it failed. */
    failedStatusReason?: string
    /** Records that were not stored, and why: the first 100. */
    errors?: string[]
  }
}

export interface FindTableRowsInput {
  /** The id or the name of a table. */
  table: string
  limit?: number
  offset?: number
  /** Conditions by column, such as `{ "age": { "$gte": 18 } }`. */
  filter?: JsonObject
  /** Columns with `key` or aggregations, such as `{ "status": "key", "total": ["sum", "avg"] }`. */
  group?: JsonObject
  search?: string
  select?: string[]
  /** `id` unless given. */
  orderBy?: string
  orderDirection?: 'asc' | 'desc'
}

export interface FindTableRowsOutput {
  rows: Array<{
    id?: number
    createdAt?: string
    updatedAt?: string
    computed?: Record<string, { status: string; error?: string; updatedBy?: string; updatedAt?: string }>
    stale?: string[]
    similarity?: number
    [column: string]: any
  }>
  hasMore: boolean
  offset: number
  limit: number
  warnings?: string[]
}

export interface GenerateAudioInput {
  /** The text that is spoken. */
  input: string
  /** `provider:model`, several in order of fallback, or `auto`, the platform’s own choice, unless given. */
  model?: string | string[]
  /** One of `listVoices`; a usual one unless given. */
  voice?: string
  /** `mp3` unless given; models of Google make `wav` only. */
  format?: 'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm'
  speed?: number
  /** How it is spoken, of models that take it. */
  instructions?: string
  language?: string
  options?: {
    /** Days after which the file is deleted; 30 unless given. */
    expirationDays?: number
  }
}

export interface GenerateAudioOutput {
  output: {
    /** Everybody who has it can listen, until the file expires. */
    audioUrl: string
  }
  metadata: {
    provider: string
    /** The model that answered, as `provider:model`. */
    model: string
    voice: string
    format: 'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm'
    characterCount: number
    /** The file of the bot that has the content. */
    fileId: string
    usage: {
      inputTokens: number
      /** In US dollars, by the platform’s table of prices; 0 if it has none. */
      inputCost: number
      outputTokens: number
      /** In US dollars, by the platform’s table of prices; 0 if it has none. */
      outputCost: number
    }
    /** An estimate: the provider’s bill is exact. */
    cost: number
    cached: boolean
    /** Milliseconds from the call to the answer. */
    latency: number
    /** The models that failed before. */
    fallbackPath: string[]
    warnings?: Array<{
      type: 'parameter_ignored' | 'provider_limitation' | 'deprecated_model' | 'fallback_used'
      message: string
    }>
  }
}

export interface GenerateAudioStreamInput {
  /** The text that is spoken. */
  input: string
  /** `provider:model`, several in order of fallback, or `auto`, the platform’s own choice, unless given. */
  model?: string | string[]
  /** One of `listVoices`; a usual one unless given. */
  voice?: string
  /** `mp3` unless given; models of Google make `wav` only. */
  format?: 'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm'
  speed?: number
  /** How it is spoken, of models that take it. */
  instructions?: string
  language?: string
  options?: {
    /** Days after which the file is deleted; 30 unless given. */
    expirationDays?: number
  }
}

export interface GenerateAudioStreamOutput {
  /** Whether it is the last chunk. */
  finished: boolean
  /** The next bytes of the audio in base64; absent from the last chunk. */
  audio?: string
  /** Of the last chunk, as of `generateAudio`; null where the model failed within. */
  audioUrl?: string | null
  metadata?: {
    provider: string
    /** The model that answered, as `provider:model`. */
    model: string
    voice: string
    format: 'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm'
    characterCount: number
    /** The file of the bot that has the content. */
    fileId: string
    usage: {
      inputTokens: number
      /** In US dollars, by the platform’s table of prices; 0 if it has none. */
      inputCost: number
      outputTokens: number
      /** In US dollars, by the platform’s table of prices; 0 if it has none. */
      outputCost: number
    }
    /** An estimate: the provider’s bill is exact. */
    cost: number
    cached: boolean
    /** Milliseconds from the call to the answer. */
    latency: number
    /** The models that failed before. */
    fallbackPath: string[]
    warnings?: Array<{
      type: 'parameter_ignored' | 'provider_limitation' | 'deprecated_model' | 'fallback_used'
      message: string
    }>
  }
  /** The reason for which there is no whole audio. */
  error?: string
}

export interface GenerateImageInput {
  /** The picture, in words. */
  prompt: string
  /** `provider:model`, several in order of fallback, or `auto`, the platform’s own choice, unless given. */
  model?: string | string[]
  /** In pixels, as `1024x1024`, or a ratio, as `16:9`: the nearest that the model makes. */
  size?: string
  /** Of models that have several. */
  quality?: 'low' | 'medium' | 'high' | 'auto'
  /** Of models that have several; `png` unless given. */
  format?: 'png' | 'jpeg' | 'webp'
  options?: {
    /** Days after which the file is deleted; 30 unless given. */
    expirationDays?: number
  }
}

export interface GenerateImageOutput {
  output: {
    /** Everybody who has it sees the picture, until the file expires. */
    imageUrl: string
  }
  metadata: {
    provider: string
    /** The model that answered, as `provider:model`. */
    model: string
    /** That of the answer, or else that which was asked for; `auto` where neither is known. */
    size: string
    format: 'png' | 'jpeg' | 'webp'
    /** `auto` where it is not known. */
    quality: string
    /** The file of the bot that has the content. */
    fileId: string
    usage: {
      inputTokens: number
      /** In US dollars, by the platform’s table of prices; 0 if it has none. */
      inputCost: number
      outputTokens: number
      /** In US dollars, by the platform’s table of prices; 0 if it has none. */
      outputCost: number
    }
    /** An estimate: the provider’s bill is exact. */
    cost: number
    cached: boolean
    /** Milliseconds from the call to the answer. */
    latency: number
    /** The models that failed before. */
    fallbackPath: string[]
    warnings?: Array<{
      type: 'parameter_ignored' | 'provider_limitation' | 'deprecated_model' | 'fallback_used'
      message: string
    }>
  }
}

export interface GenerateTextInput {
  messages: Array<{
    role: 'system' | 'user' | 'assistant'
    /** `text` unless given. */
    type?: 'text' | 'multipart' | 'tool_calls' | 'tool_result'
    /** Text, or the parts of a message of type `multipart`. */
    content?:
      | string
      | Array<{
          type: 'text' | 'image' | 'audio'
          text?: string
          /** Of an image or an audio file: a data URL, the `url` of a file of the platform, or, of an image, an https URL. */
          url?: string
          mimeType?: string
        }>
      | null
    /** Of an answer of type `tool_calls`, which the model gave before. */
    toolCalls?: Array<{ id: string; function: { name: string; arguments: JsonObject | null }; type?: 'function' }>
    /** The call that a message of type `tool_result` answers. */
    toolResultCallId?: string
  }>
  /** `provider:model`, `auto`, `fast` or `best`; several in order of fallback. `auto` unless given. */
  model?: string | string[]
  /** Instructions before all messages. */
  systemPrompt?: string
  temperature?: number
  /** Upper bound of the answer. */
  maxTokens?: number
  /** The answer ends before the first of them. */
  stopSequences?: string | string[]
  /** `json`: the answer is one JSON value. */
  responseFormat?: 'text' | 'json' | 'json_object'
  /** JSON Schema of the answer, which is then JSON. */
  responseSchema?: JsonObject
  reasoningEffort?: 'none' | 'low' | 'medium' | 'high' | 'dynamic'
  tools?: Array<{
    name: string
    description?: string
    /** JSON Schema of the input. */
    parameters?: JsonObject
    /** The provider holds the model to the schema, where it can. */
    strict?: boolean
  }>
  toolControl?: {
    mode: 'auto' | 'none' | 'required' | 'specific'
    /** Of the mode `specific`. */
    toolName?: string
    /** False: at most one call in an answer. */
    parallel?: boolean
  }
}

export interface GenerateTextOutput {
  /** The text; empty if the model calls tools instead. */
  output: string
  metadata: {
    provider: string
    /** The model that answered, as `provider:model`. */
    model: string
    usage: {
      inputTokens: number
      /** In US dollars, by the platform’s table of prices; 0 if it has none. */
      inputCost: number
      outputTokens: number
      /** In US dollars, by the platform’s table of prices; 0 if it has none. */
      outputCost: number
    }
    /** The sum of both costs, an estimate: the provider’s bill is exact. */
    cost: number
    cached: boolean
    /** Milliseconds from the call to the answer. */
    latency: number
    stopReason: 'stop' | 'max_tokens' | 'content_filter' | 'tool_calls' | 'other'
    /** The models that failed before. */
    fallbackPath: string[]
    /** Of a stream: milliseconds from the call to the first text. */
    ttft?: number
    warnings?: Array<{
      type: 'parameter_ignored' | 'provider_limitation' | 'deprecated_model' | 'fallback_used'
      message: string
    }>
  }
  reasoning?: string
  toolCalls?: Array<{ id: string; name: string; input: JsonObject }>
}

export interface GenerateTextStreamInput {
  messages: Array<{
    role: 'system' | 'user' | 'assistant'
    /** `text` unless given. */
    type?: 'text' | 'multipart' | 'tool_calls' | 'tool_result'
    /** Text, or the parts of a message of type `multipart`. */
    content?:
      | string
      | Array<{
          type: 'text' | 'image' | 'audio'
          text?: string
          /** Of an image or an audio file: a data URL, the `url` of a file of the platform, or, of an image, an https URL. */
          url?: string
          mimeType?: string
        }>
      | null
    /** Of an answer of type `tool_calls`, which the model gave before. */
    toolCalls?: Array<{ id: string; function: { name: string; arguments: JsonObject | null }; type?: 'function' }>
    /** The call that a message of type `tool_result` answers. */
    toolResultCallId?: string
  }>
  /** `provider:model`, `auto`, `fast` or `best`; several in order of fallback. `auto` unless given. */
  model?: string | string[]
  /** Instructions before all messages. */
  systemPrompt?: string
  temperature?: number
  /** Upper bound of the answer. */
  maxTokens?: number
  /** The answer ends before the first of them. */
  stopSequences?: string | string[]
  /** `json`: the answer is one JSON value. */
  responseFormat?: 'text' | 'json' | 'json_object'
  /** JSON Schema of the answer, which is then JSON. */
  responseSchema?: JsonObject
  reasoningEffort?: 'none' | 'low' | 'medium' | 'high' | 'dynamic'
  tools?: Array<{
    name: string
    description?: string
    /** JSON Schema of the input. */
    parameters?: JsonObject
    /** The provider holds the model to the schema, where it can. */
    strict?: boolean
  }>
  toolControl?: {
    mode: 'auto' | 'none' | 'required' | 'specific'
    /** Of the mode `specific`. */
    toolName?: string
    /** False: at most one call in an answer. */
    parallel?: boolean
  }
}

export interface GenerateTextStreamOutput {
  /** Unix time in seconds. */
  created: number
  /** The text since the last chunk. */
  output: string
  /** True in the last chunk, and only there. */
  finished: boolean
  /** The model’s reasoning since the last chunk. */
  reasoning?: string
  toolCalls?: Array<{ id: string; name: string; input: JsonObject }>
  metadata?: {
    provider: string
    /** The model that answered, as `provider:model`. */
    model: string
    usage: {
      inputTokens: number
      /** In US dollars, by the platform’s table of prices; 0 if it has none. */
      inputCost: number
      outputTokens: number
      /** In US dollars, by the platform’s table of prices; 0 if it has none. */
      outputCost: number
    }
    /** The sum of both costs, an estimate: the provider’s bill is exact. */
    cost: number
    cached: boolean
    /** Milliseconds from the call to the answer. */
    latency: number
    stopReason: 'stop' | 'max_tokens' | 'content_filter' | 'tool_calls' | 'other'
    /** The models that failed before. */
    fallbackPath: string[]
    /** Of a stream: milliseconds from the call to the first text. */
    ttft?: number
    warnings?: Array<{
      type: 'parameter_ignored' | 'provider_limitation' | 'deprecated_model' | 'fallback_used'
      message: string
    }>
  }
  /** In the last chunk: why the answer ended within. It is not complete. */
  error?: string
}

export interface GetConversationInput {
  id: string
}

export interface GetConversationOutput {
  conversation: Conversation
}

export interface GetEventInput {
  id: string
}

export interface GetEventOutput {
  event: StoredEvent
}

export interface GetFileInput {
  /** Its id, or its key. */
  id: string
}

export interface GetFileOutput {
  file: StoredFile
}

export interface GetFlowPositionInput {
  conversationId: string
}

export interface GetFlowPositionOutput {
  position?: {
    flow: string
    node: string
    /** The card that waits. */
    card: string
    waitsFor: 'answer' | 'time' | 'handover'
    /** The flows that wait for the end of this one, the first of the conversation first. */
    callers: string[]
    /** The bot version whose flows brought the conversation here. */
    versionId: string
    /** The end of the wait; absent for none. */
    until?: string
  }
}

export interface GetHandoverInput {
  conversationId: string
}

export interface GetHandoverOutput {
  handover?: {
    id: string
    conversationId: string
    /** `pending`: no member answers yet; `assigned`: a member does; `resolved` and `expired`: it has ended. */
    status: 'pending' | 'assigned' | 'resolved' | 'expired'
    /** `integration`: begun through the inbox, where a plugin of the bot copies the messages. */
    requestedBy: 'bot' | 'member' | 'integration'
    /** The integration of the conversation. */
    integration: string
    channel: string
    createdAt: string
    title?: string
    description?: string
    member?: {
      /** The member’s account. */
      id: string
      name: string
      pictureUrl?: string
    }
    user?: { id: string; name?: string }
    assignedAt?: string
    firstReplyAt?: string
    /** The time at which it ends by itself. */
    expiresAt?: string
    endedAt?: string
  }
}

export interface GetMessageInput {
  id: string
}

export interface GetMessageOutput {
  message: Message
}

export interface GetOrCreateConversationInput {
  channel: string
  tags?: Record<string, string | null>
  properties?: Record<string, string | null>
  /** For bots: the integration of the conversation; default: the chat. */
  integrationName?: string
  /** The keys of the tags that identify an existing row; default: all given tags. */
  discriminateByTags?: string[]
}

export interface GetOrCreateConversationOutput {
  conversation: Conversation
  meta: { created: boolean }
}

export type GetOrCreateMessageInput = MessageContent & {
  conversationId: string
  /** The author; default: the bot. */
  userId?: string
  tags?: Record<string, string | null>
  origin?: 'synthetic'
  /** The keys of the tags that identify an existing row; default: all given tags. */
  discriminateByTags?: string[]
  /** The time of the event: either dateTime or delay. */
  schedule?: {
    /** The time, ISO 8601. */
    dateTime?: string
    /** Milliseconds from now, instead of dateTime. */
    delay?: number
  }
}

export interface GetOrCreateMessageOutput {
  message: Message
  meta: { created: boolean }
}

export interface GetOrCreateTableInput {
  /** The id or the name of a table. */
  table: string
  /** A JSON Schema with `properties`, a map of columns to JSON Schemas, or a map of columns to example values. */
  schema: JsonObject
  factor?: number
  frozen?: boolean
  keyColumn?: string | null
  tags?: Record<string, string>
  isComputeEnabled?: boolean
}

export interface GetOrCreateTableOutput {
  table: Table
  created: boolean
  rows: number
  stale: number
  indexing: number
}

export interface GetOrCreateUserInput {
  tags?: Record<string, string | null>
  properties?: Record<string, string | null>
  name?: string
  pictureUrl?: string
  /** For bots: the integration of the user, if any. */
  integrationName?: string
  /** The keys of the tags that identify an existing row; default: all given tags. */
  discriminateByTags?: string[]
}

export interface GetOrCreateUserOutput {
  user: User
  meta: { created: boolean }
}

export interface GetOrCreateWorkflowInput {
  name: string
  status: 'pending' | 'in_progress' | 'listening'
  input?: JsonObject
  parentWorkflowId?: string
  conversationId?: string
  userId?: string
  /** Default: in one day. */
  timeoutAt?: string
  tags?: Record<string, string>
  /** The event that the bot is handling; required with the status in_progress. */
  eventId?: string
  /** The keys of the tags that identify an existing row; default: all given tags. */
  discriminateByTags?: string[]
  /** Default: both. */
  discriminateByStatusGroup?: 'active' | 'finished'
}

export interface GetOrCreateWorkflowOutput {
  workflow: Workflow
  meta: { created: boolean }
}

export interface GetOrSetStateInput {
  type: 'bot' | 'user' | 'conversation' | 'workflow' | 'integration'
  /** The id of the bot, user, conversation, workflow or integration that owns the state. */
  id: string
  name: string
  payload: JsonObject
  /** Milliseconds without a read or a write after which the state is deleted; null for never. */
  expiry?: number | null
}

export interface GetOrSetStateOutput {
  state: StoredState
  meta: { cached: boolean }
}

export interface GetParticipantInput {
  /** The id of the conversation. */
  id: string
  userId: string
}

export interface GetParticipantOutput {
  participant: User
}

export type GetPresenceInput = Record<string, never>

export interface GetPresenceOutput {
  /** Members who take conversations now. */
  online: number
  /** Members who take none now; they are not among those who are online. */
  away: number
}

export interface GetStateInput {
  type: 'bot' | 'user' | 'conversation' | 'workflow' | 'integration'
  /** The id of the bot, user, conversation, workflow or integration that owns the state. */
  id: string
  name: string
}

export interface GetStateOutput {
  state: StoredState
  meta: { cached: boolean }
}

export interface GetTableInput {
  /** The id or the name of a table. */
  table: string
}

export interface GetTableOutput {
  table: Table
  rows: number
  stale: number
  indexing: number
}

export interface GetTableJobsInput {
  /** The id or the name of a table. */
  table: string
}

export interface GetTableJobsOutput {
  jobs: Array<{
    id: string
    botId: string
    tableId: string
    type: 'import' | 'export'
    status: 'pending' | 'in_progress' | 'finalizing' | 'completed' | 'failed'
    /** In percent. */
    progress: number
    inputFileId: string | null
    /** The file of a completed export. */
    outputFileId: string | null
    createdAt: string
    updatedAt: string
    /** Why it failed. */
    failedStatusReason?: string
    /** Records that were not stored, and why: the first 100. */
    errors?: string[]
  }>
}

export interface GetTableRowInput {
  /** The id or the name of a table. */
  table: string
  id: number
}

export interface GetTableRowOutput {
  row: TableRow
}

export interface GetUserInput {
  id: string
}

export interface GetUserOutput {
  user: User
}

export interface GetWorkflowInput {
  id: string
}

export interface GetWorkflowOutput {
  workflow: Workflow
}

export interface HandoverInput {
  conversationId: string
  /** The reason, as members see it in their list. */
  title?: string
  description?: string
  /** The time after which it ends by itself; absent: never. */
  expiresInSeconds?: number
}

export interface HandoverOutput {
  handover: {
    id: string
    conversationId: string
    /** `pending`: no member answers yet; `assigned`: a member does; `resolved` and `expired`: it has ended. */
    status: 'pending' | 'assigned' | 'resolved' | 'expired'
    /** `integration`: begun through the inbox, where a plugin of the bot copies the messages. */
    requestedBy: 'bot' | 'member' | 'integration'
    /** The integration of the conversation. */
    integration: string
    channel: string
    createdAt: string
    title?: string
    description?: string
    member?: {
      /** The member’s account. */
      id: string
      name: string
      pictureUrl?: string
    }
    user?: { id: string; name?: string }
    assignedAt?: string
    firstReplyAt?: string
    /** The time at which it ends by itself. */
    expiresAt?: string
    endedAt?: string
  }
}

export interface ImportMessagesInput {
  messages: Array<{
    conversationId: string
    type: string
    payload: JsonObject
    /** The author; default: the bot. */
    userId: string
    tags?: Record<string, string>
    createdAt: string
    /** The keys of the tags that identify an existing row; default: all given tags. */
    discriminateByTags?: string[]
  }>
}

export interface ImportMessagesOutput {
  messages: Message[]
}

export interface ImportTableInput {
  /** The id or the name of a table. */
  table: string
  /** The id or the key of a file whose content is there. */
  fileId: string
}

export interface ImportTableOutput {
  job: {
    id: string
    botId: string
    tableId: string
    type: 'import' | 'export'
    status: 'pending' | 'in_progress' | 'finalizing' | 'completed' | 'failed'
    /** In percent. */
    progress: number
    inputFileId: string | null
    /** The file of a completed export. */
    outputFileId: string | null
    createdAt: string
    updatedAt: string
    /** Why it failed. */
    failedStatusReason?: string
    /** Records that were not stored, and why: the first 100. */
    errors?: string[]
  }
}

export interface InitializeIncomingMessageInput {
  userId?: string
  user?: {
    tags?: Record<string, string>
    properties?: Record<string, string>
    name?: string
    pictureUrl?: string
    /** For bots: the integration of the user, if any. */
    integrationName?: string
    /** The keys of the tags that identify an existing row; default: all given tags. */
    discriminateByTags?: string[]
  }
  conversationId?: string
  conversation?: {
    channel: string
    tags?: Record<string, string>
    properties?: Record<string, string>
    /** For bots: the integration of the conversation; default: the chat. */
    integrationName?: string
    /** The keys of the tags that identify an existing row; default: all given tags. */
    discriminateByTags?: string[]
  }
  message?: {
    type: string
    payload: JsonObject
    tags?: Record<string, string>
    origin?: 'synthetic'
    /** The keys of the tags that identify an existing row; default: all given tags. */
    discriminateByTags?: string[]
  }
}

export interface InitializeIncomingMessageOutput {
  user: User
  conversation: Conversation
  message?: Message
}

export interface ListConversationsInput {
  /** The `meta.nextToken` of the previous page. */
  nextToken?: string
  /** Rows of a page; default: 20. */
  pageSize?: number
  /** The time by which the list is sorted; default: createdAt. */
  sortField?: 'createdAt' | 'updatedAt'
  /** Default: desc, the newest first. */
  sortDirection?: 'asc' | 'desc'
  /** Only rows with all of these tags. */
  tags?: Record<string, string>
  afterDate?: string
  beforeDate?: string
  /** Only conversations in which all of these users participate. */
  participantIds?: string[]
  integrationName?: string
  channel?: string
  minMessageCount?: number
  maxMessageCount?: number
}

export interface ListConversationsOutput {
  conversations: Conversation[]
  meta: PageMeta
}

export interface ListEventsInput {
  type?: string
  conversationId?: string
  userId?: string
  messageId?: string
  workflowId?: string
  status?: 'scheduled' | 'canceled' | 'pending' | 'processed' | 'ignored' | 'failed'
  /** The `meta.nextToken` of the previous page. */
  nextToken?: string
  /** Rows of a page; default: 20. */
  pageSize?: number
}

export interface ListEventsOutput {
  events: StoredEvent[]
  meta: PageMeta
}

export interface ListFilePassagesInput {
  /** Its id, or its key. */
  id: string
  /** The `meta.nextToken` of the previous page. */
  nextToken?: string
  /** Rows of a page; default: 20. */
  pageSize?: number
  /** In place of pageSize; 20 unless given. */
  limit?: number
}

export interface ListFilePassagesOutput {
  passages: Array<{
    id: string
    content: string
    meta: {
      type?: 'chunk' | 'summary' | 'consolidated' | 'image'
      subtype?: 'title' | 'subtitle' | 'paragraph' | 'blockquote' | 'list' | 'table' | 'code' | 'image' | 'page'
      /** Of a PDF; the first is 1. */
      pageNumber?: number
      /** In the order of the document; the first is 0. */
      position?: number
      sourceUrl?: string
    }
  }>
  meta: PageMeta
}

export interface ListFileTagValuesInput {
  tag: string
  /** The `meta.nextToken` of the previous page. */
  nextToken?: string
  /** Rows of a page; default: 20. */
  pageSize?: number
}

export interface ListFileTagValuesOutput {
  values: string[]
  meta: PageMeta
}

export interface ListFileTagsInput {
  /** The `meta.nextToken` of the previous page. */
  nextToken?: string
  /** Rows of a page; default: 20. */
  pageSize?: number
}

export interface ListFileTagsOutput {
  tags: string[]
  meta: PageMeta
}

export interface ListFilesInput {
  /** The `meta.nextToken` of the previous page. */
  nextToken?: string
  /** Rows of a page; default: 20. */
  pageSize?: number
  /** createdAt unless given. */
  sortField?: 'key' | 'size' | 'status' | 'createdAt' | 'updatedAt'
  /** desc unless given. */
  sortDirection?: 'asc' | 'desc'
  /** Each tag has to match: a value, one of several in an array, or an object with `not`, `in` (a value or an array each) and `exists` (true or false). */
  tags?: JsonObject
  /** Only these. */
  ids?: string[]
  /** Only those that searches find, or only the others. */
  indexed?: boolean
}

export interface ListFilesOutput {
  files: StoredFile[]
  meta: PageMeta
}

export interface ListKnowledgeBasesInput {
  /** The `meta.nextToken` of the previous page. */
  nextToken?: string
  /** Rows of a page; default: 20. */
  pageSize?: number
  /** Each tag has to match: a value, one of several in an array, or an object with `not`, `in` (a value or an array each) and `exists` (true or false). */
  tags?: JsonObject
}

export interface ListKnowledgeBasesOutput {
  knowledgeBases: Array<{ id: string; name: string; tags: Record<string, string>; createdAt: string }>
  meta: PageMeta
}

export interface ListMessagesInput {
  /** The `meta.nextToken` of the previous page. */
  nextToken?: string
  /** Rows of a page; default: 20. */
  pageSize?: number
  /** Only rows with all of these tags. */
  tags?: Record<string, string>
  afterDate?: string
  beforeDate?: string
  conversationId?: string
}

export interface ListMessagesOutput {
  messages: Message[]
  meta: PageMeta
}

export type ListModelsInput = Record<string, never>

export interface ListModelsOutput {
  models: Array<{
    /** `provider:model`. */
    id: string
    name: string
    description: string
    aliases: string[]
    tags: string[]
    input: {
      maxTokens: number
      costPer1MTokens: number
      /** Of a model that transcribes: for a minute of audio. */
      costPerMinute?: number
    }
    output: {
      maxTokens: number
      costPer1MTokens: number
      /** Of a model that transcribes: for a minute of audio. */
      costPerMinute?: number
    }
    lifecycle: 'production' | 'preview' | 'deprecated' | 'discontinued'
    capabilities: {
      supportsImages: boolean
      supportsAudio: boolean
      supportsTranscription: boolean
      supportsSearch: boolean
    }
  }>
}

export interface ListParticipantsInput {
  id: string
  /** The `meta.nextToken` of the previous page. */
  nextToken?: string
  /** Rows of a page; default: 20. */
  pageSize?: number
}

export interface ListParticipantsOutput {
  participants: User[]
  meta: PageMeta
}

export interface ListTablesInput {
  tags?: Record<string, string>
  /** The `meta.nextToken` of the previous page. */
  nextToken?: string
}

export interface ListTablesOutput {
  tables: Table[]
  meta: PageMeta
}

export interface ListTagValuesInput {
  key: string
}

export type ListTagValuesOutput = Record<string, never>

export interface ListUsersInput {
  /** The `meta.nextToken` of the previous page. */
  nextToken?: string
  /** Rows of a page; default: 20. */
  pageSize?: number
  /** The time by which the list is sorted; default: createdAt. */
  sortField?: 'createdAt' | 'updatedAt'
  /** Default: desc, the newest first. */
  sortDirection?: 'asc' | 'desc'
  /** Only rows with all of these tags. */
  tags?: Record<string, string>
  afterDate?: string
  beforeDate?: string
  /** The time that afterDate and beforeDate compare. */
  rangeField?: 'createdAt' | 'updatedAt'
  /** Only participants of this conversation. */
  conversationId?: string
}

export interface ListUsersOutput {
  users: User[]
  meta: PageMeta
}

export interface ListVoicesInput {
  /** Voices of this model, as `provider:model`. */
  model?: string
  /** Has no effect: all voices speak the languages of their model. */
  language?: string
}

export interface ListVoicesOutput {
  voices: Array<{
    id: string
    displayName: string
    provider: string
    /** As `provider:model`. */
    models: string[]
    description?: string
  }>
}

export interface ListWorkflowsInput {
  /** Only workflows with all of these tags. */
  tags?: Record<string, string>
  conversationId?: string
  userId?: string
  parentWorkflowId?: string
  statuses?: Array<
    'pending' | 'in_progress' | 'failed' | 'completed' | 'listening' | 'paused' | 'timedout' | 'cancelled'
  >
  name?: string
  /** The `meta.nextToken` of the previous page. */
  nextToken?: string
  /** Rows of a page; default: 20. */
  pageSize?: number
}

export interface ListWorkflowsOutput {
  workflows: Workflow[]
  meta: PageMeta
}

export interface PatchStateInput {
  type: 'bot' | 'user' | 'conversation' | 'workflow' | 'integration'
  /** The id of the bot, user, conversation, workflow or integration that owns the state. */
  id: string
  name: string
  payload: JsonObject
  /** Milliseconds without a read or a write after which the state is deleted; null for never. */
  expiry?: number | null
}

export interface PatchStateOutput {
  state: StoredState
}

export interface RemoveParticipantInput {
  /** The id of the conversation. */
  id: string
  userId: string
}

export type RemoveParticipantOutput = Record<string, never>

export interface RenameTableColumnInput {
  /** The id or the name of a table. */
  table: string
  name: string
  newName: string
}

export interface RenameTableColumnOutput {
  table: Table
}

export interface ResumeFlowInput {
  conversationId: string
}

export interface ResumeFlowOutput {
  event: StoredEvent
}

export interface SearchFilesInput {
  /** A question, or words; at most 2048 bytes. */
  query: string
  /** Each tag has to match: a value, one of several in an array, or an object with `not`, `in` (a value or an array each) and `exists` (true or false). */
  tags?: JsonObject
  /** 20 unless given. */
  limit?: number
  /** How many neighbours on each side are part of the content; 1 unless given. */
  contextDepth?: number
  /** One result for each file, with all that was found in it. */
  consolidate?: boolean
  /** The content begins with the headings above it. */
  includeBreadcrumb?: boolean
  /** The parts of the content are named in `context`. */
  withContext?: boolean
}

export interface SearchFilesOutput {
  passages: Array<{
    /** The passage, with its neighbours in the document. */
    content: string
    /** From 0 to 1, the higher the closer. */
    score: number
    meta: {
      type?: 'chunk' | 'summary' | 'consolidated' | 'image'
      subtype?: 'title' | 'subtitle' | 'paragraph' | 'blockquote' | 'list' | 'table' | 'code' | 'image' | 'page'
      /** Of a PDF; the first is 1. */
      pageNumber?: number
      /** In the order of the document; the first is 0. */
      position?: number
      sourceUrl?: string
    }
    file: {
      id: string
      key: string
      contentType: string
      metadata: JsonObject
      tags: Record<string, string>
      createdAt: string
      updatedAt: string
    }
    context?: Array<{
      text: string
      type: 'preceding' | 'subsequent' | 'current' | 'breadcrumb'
      id?: string
      offset?: number
    }>
  }>
}

export interface SetFilePassagesInput {
  /** Its id, or its key. */
  id: string
  /** In document order. */
  passages: Array<{
    content: string
    /** paragraph unless given. */
    type?: 'title' | 'subtitle' | 'paragraph' | 'blockquote' | 'list' | 'table' | 'code' | 'image'
    pageNumber?: number
  }>
}

export type SetFilePassagesOutput = Record<string, never>

export interface SetStateInput {
  type: 'bot' | 'user' | 'conversation' | 'workflow' | 'integration'
  /** The id of the bot, user, conversation, workflow or integration that owns the state. */
  id: string
  name: string
  payload: JsonObject | null
  /** Milliseconds without a read or a write after which the state is deleted; null for never. */
  expiry?: number | null
}

export interface SetStateOutput {
  state: StoredState
}

export interface SetStateExpiryInput {
  type: 'bot' | 'user' | 'conversation' | 'workflow' | 'integration'
  /** The id of the bot, user, conversation, workflow or integration that owns the state. */
  id: string
  name: string
  /** Milliseconds without a read or a write after which the state is deleted; null for never. */
  expiry: number | null
}

export interface SetStateExpiryOutput {
  state: StoredState
}

export interface StartFlowInput {
  conversationId: string
  flow: string
  /** Default: the start of the flow. */
  node?: string
  /** Variables with which the flow begins. */
  input?: JsonObject
  /** The user whose state the flow finds. */
  userId?: string
}

export interface StartFlowOutput {
  event: StoredEvent
}

export interface TrackAnalyticsInput {
  name: string
  count: number
}

export type TrackAnalyticsOutput = Record<string, never>

export interface TranscribeAudioInput {
  /** The audio: a data URL in base64, the `url` of a file, or, in bot code, an address on a granted host. At most 25 MB. */
  url: string
  /** For instance `audio/mpeg`. That of the address unless given. */
  mimeType?: string
  /** `provider:model`, several in order of fallback, or `auto`, the platform’s own choice, unless given. */
  model?: string | string[]
  /** The language that is spoken, for instance `en`; the model finds it out unless given. */
  language?: string
  /** Names and terms that are spoken, or the text before; models of Google get none. */
  prompt?: string
}

export interface TranscribeAudioOutput {
  /** The words that are spoken. */
  output: string
  metadata: {
    provider: string
    /** The model that answered, as `provider:model`. */
    model: string
    /** The length of the audio: of the provider’s answer, or estimated from its size. */
    durationSeconds: number
    usage: {
      inputTokens: number
      /** In US dollars, by the platform’s table of prices; 0 if it has none. */
      inputCost: number
      outputTokens: number
      /** In US dollars, by the platform’s table of prices; 0 if it has none. */
      outputCost: number
    }
    /** An estimate: the provider’s bill is exact. */
    cost: number
    cached: boolean
    /** Milliseconds from the call to the answer. */
    latency: number
    /** The models that failed before. */
    fallbackPath: string[]
  }
  /** The language that is spoken, where the model names it. */
  language?: string
  /** The parts of the text with their times, of models that give them. */
  segments?: Array<{
    /** Seconds from the start of the audio. */
    start: number
    /** Seconds from the start of the audio. */
    end: number
    text: string
  }>
}

export interface UpdateConversationInput {
  id: string
  tags?: Record<string, string | null>
  properties?: Record<string, string | null>
}

export interface UpdateConversationOutput {
  conversation: Conversation
}

export interface UpdateFileMetadataInput {
  /** Its id, or its key. */
  id: string
  /** Null deletes a field; fields that are not named stay. */
  metadata?: JsonObject
  /** Null deletes a tag; tags that are not named stay. */
  tags?: Record<string, string | null>
  /** `public_content`: everybody who has its address reads the content. `integrations`: the integrations of the bot read the file. None: it is private. */
  accessPolicies?: Array<'public_content' | 'integrations'>
  /** When it is deleted, at most 90 days from now; null: never. */
  expiresAt?: string | null
}

export interface UpdateFileMetadataOutput {
  file: StoredFile
}

export interface UpdateKnowledgeBaseInput {
  id: string
  name: string
  /** Null deletes a tag; tags that are not named stay. */
  tags?: Record<string, string | null>
}

export interface UpdateKnowledgeBaseOutput {
  knowledgeBase: KnowledgeBase
}

export interface UpdateMessageInput {
  id: string
  tags?: Record<string, string | null>
  payload?: JsonObject
}

export interface UpdateMessageOutput {
  message: Message
}

export interface UpdateTableInput {
  /** The id or the name of a table. */
  table: string
  factor?: number
  frozen?: boolean
  keyColumn?: string | null
  tags?: Record<string, string | null>
  isComputeEnabled?: boolean
  /** Letters, digits and underscores; it ends in `Table`. */
  name?: string
  /** A JSON Schema with `properties`, a map of columns to JSON Schemas, or a map of columns to example values. */
  schema?: JsonObject
}

export interface UpdateTableOutput {
  table: Table
  staleColumns?: string[]
}

export interface UpdateTableRowsInput {
  /** The id or the name of a table. */
  table: string
  rows: Array<{ id: number; [column: string]: any }>
  waitComputed?: boolean
}

export interface UpdateTableRowsOutput {
  rows: TableRow[]
  /** Columns that the table lacks. */
  warnings?: string[]
  /** Rows that were not stored, and why. */
  errors?: string[]
}

export interface UpdateUserInput {
  id: string
  tags?: Record<string, string | null>
  properties?: Record<string, string | null>
  name?: string | null
  pictureUrl?: string | null
  /** Free text about the user, which the bot can read. */
  profile?: string | null
}

export interface UpdateUserOutput {
  user: User
}

export interface UpdateWorkflowInput {
  id: string
  output?: JsonObject
  timeoutAt?: string
  status?: 'completed' | 'cancelled' | 'listening' | 'paused' | 'failed' | 'in_progress'
  failureReason?: string
  tags?: Record<string, string | null>
  userId?: string
  /** The event that the bot is handling; required with the status in_progress. */
  eventId?: string
}

export interface UpdateWorkflowOutput {
  workflow: Workflow
}

export interface UpsertFileInput {
  /** Its name, unique in the bot, or among the files of an integration. */
  key: string
  /** Bytes, reserved in the quota until the content is there; 0 when they are not known yet. */
  size: number
  tags?: Record<string, string>
  /** Whether it is to be found by searches; not unless given. */
  index?: boolean
  /** How the text is to be found and cut. Options that need a language model have no effect. */
  indexing?: {
    configuration: {
      parsing?: { mode?: 'agent' | 'standard'; minimumParagraphLength?: number; smartCleanup?: boolean }
      chunking?: { maximumChunkLength?: number; embeddedContextLevels?: number; embedBreadcrumb?: boolean }
      summarization?: JsonObject
      stack?: 'legacy' | 'realtime-v1'
      vision?: JsonObject
    }
  }
  /** `public_content`: everybody who has its address reads the content. `integrations`: the integrations of the bot read the file. None: it is private. */
  accessPolicies?: Array<'public_content' | 'integrations'>
  /** That of the key’s extension unless given. */
  contentType?: string
  /** When it is deleted, at most 90 days from now; never unless given. */
  expiresAt?: string
  /** Has no effect: contents always are. */
  publicContentImmediatelyAccessible?: boolean
  /** Any JSON values, by name. */
  metadata?: JsonObject
  /** The user whose file it is: it is deleted with the user. */
  'x-user-id'?: string
}

export interface UpsertFileOutput {
  file: UploadableFile
}

export interface UpsertTableRowsInput {
  /** The id or the name of a table. */
  table: string
  rows: JsonObject[]
  keyColumn?: string
  waitComputed?: boolean
}

export interface UpsertTableRowsOutput {
  inserted: TableRow[]
  updated: TableRow[]
  /** Columns that the table lacks. */
  warnings?: string[]
  /** Rows that were not stored, and why. */
  errors?: string[]
}

/** The operations of the platform for bots and integrations. */
export interface Operations {
  /**
   * Adds a user to a conversation.
   * @throws ApiError `ReferenceNotFound`
   */
  addParticipant(input: AddParticipantInput): Promise<AddParticipantOutput>
  /**
   * Calls an action of the bot, or as `alias:action` one of an integration, and returns its output.
   * @throws ApiError `ReferenceNotFound`, `Runtime`, `PaymentRequired`, `RateLimited`, `OperationTimeout`
   */
  callAction(input: CallActionInput): Promise<CallActionOutput>
  /**
   * Cancels a scheduled event that is not yet due.
   */
  cancelScheduledEvent(input: CancelScheduledEventInput): Promise<CancelScheduledEventOutput>
  /**
   * Writes an observation to the bot’s log.
   * @throws ApiError `ReferenceNotFound`
   */
  captureObservation(input: CaptureObservationInput): Promise<CaptureObservationOutput>
  /**
   * Configures an installed integration, which is the caller. Absent fields stay unchanged.
   * @throws ApiError `AlreadyExists`
   */
  configureIntegration(input?: ConfigureIntegrationInput): Promise<ConfigureIntegrationOutput>
  /**
   * Copies a file with its content, tags, metadata and policies to another key.
   * @throws ApiError `AlreadyExists`, `RelationConflict`, `QuotaExceeded`
   */
  copyFile(input: CopyFileInput): Promise<CopyFileOutput>
  /**
   * Creates a conversation of the calling integration, or of the integration that a bot names.
   * @throws ApiError `ReferenceNotFound`
   */
  createConversation(input: CreateConversationInput): Promise<CreateConversationOutput>
  /**
   * Creates an event for the bot, for now or a later time; with conversationId, an event of that conversation. With workflowId, it continues a workflow that is listening, once the bot has handled it.
   * @throws ApiError `ReferenceNotFound`, `RateLimited`
   */
  createEvent(input: CreateEventInput): Promise<CreateEventOutput>
  /**
   * Creates a knowledge base, to which files belong by their tags.
   * @throws ApiError `AlreadyExists`
   */
  createKnowledgeBase(input: CreateKnowledgeBaseInput): Promise<CreateKnowledgeBaseOutput>
  /**
   * Creates a message of the bot in a conversation, or a message that an integration has received.
   * @throws ApiError `ReferenceNotFound`, `RateLimited`
   */
  createMessage(input: CreateMessageInput): Promise<CreateMessageOutput>
  /**
   * Creates a table.
   * @throws ApiError `AlreadyExists`, `InvalidJsonSchema`, `LimitExceeded`, `QuotaExceeded`
   */
  createTable(input: CreateTableInput): Promise<CreateTableOutput>
  /**
   * Creates rows. A row that fails is reported in `errors`, and the others are stored.
   * @throws ApiError `LimitExceeded`, `QuotaExceeded`
   */
  createTableRows(input: CreateTableRowsInput): Promise<CreateTableRowsOutput>
  /**
   * Creates a user of the calling integration or of the bot.
   * @throws ApiError `ReferenceNotFound`
   */
  createUser(input?: CreateUserInput): Promise<CreateUserOutput>
  /**
   * Creates a workflow. For a pending workflow, an event is created that starts it.
   * @throws ApiError `ReferenceNotFound`, `RateLimited`
   */
  createWorkflow(input: CreateWorkflowInput): Promise<CreateWorkflowOutput>
  /**
   * Deletes a conversation with its states, its messages and its waiting events.
   */
  deleteConversation(input: DeleteConversationInput): Promise<DeleteConversationOutput>
  /**
   * Deletes a file with its content.
   */
  deleteFile(input: DeleteFileInput): Promise<DeleteFileOutput>
  /**
   * Deletes a knowledge base; its files stay.
   */
  deleteKnowledgeBase(input: DeleteKnowledgeBaseInput): Promise<DeleteKnowledgeBaseOutput>
  /**
   * Deletes a message of any author.
   */
  deleteMessage(input: DeleteMessageInput): Promise<DeleteMessageOutput>
  /**
   * Deletes a table with its rows.
   */
  deleteTable(input: DeleteTableInput): Promise<DeleteTableOutput>
  /**
   * Deletes rows by their ids, those that pass a filter, or all rows of a table.
   * @throws ApiError `InvalidQuery`, `LimitExceeded`
   */
  deleteTableRows(input: DeleteTableRowsInput): Promise<DeleteTableRowsOutput>
  /**
   * Deletes a user with its states, and ends the user’s streams. The user’s messages stay.
   */
  deleteUser(input: DeleteUserInput): Promise<DeleteUserOutput>
  /**
   * Deletes a workflow with its states and its children.
   */
  deleteWorkflow(input: DeleteWorkflowInput): Promise<DeleteWorkflowOutput>
  /**
   * Creates a table with the columns of another one, and with its rows unless `schemaOnly` is set.
   * @throws ApiError `AlreadyExists`, `QuotaExceeded`, `RelationConflict`
   */
  duplicateTable(input: DuplicateTableInput): Promise<DuplicateTableOutput>
  /**
   * Ends the flows in progress in a conversation, without a further card. The event takes its turn among those of the conversation.
   * @throws ApiError `RateLimited`
   */
  endFlow(input: EndFlowInput): Promise<EndFlowOutput>
  /**
   * Hands a conversation back to the bot. Events that came during the handover stay ignored; the bot receives `handover_ended`, and its flows continue.
   */
  endHandover(input: EndHandoverInput): Promise<EndHandoverOutput>
  /**
   * Writes the rows of a table to a file, the `outputFileId` of the job that does it.
   * @throws ApiError `ResourceLockedConflict`
   */
  exportTable(input: ExportTableInput): Promise<ExportTableOutput>
  /**
   * Finds rows by a filter, in an order, or groups them. `search` ranks the rows by nearness to a text.
   * @throws ApiError `InvalidQuery`, `LimitExceeded`
   */
  findTableRows(input: FindTableRowsInput): Promise<FindTableRowsOutput>
  /**
   * Has a model speak a text; the audio becomes a public file of the bot. Models are tried in order until one answers.
   * @throws ApiError `Runtime`, `ReferenceNotFound`, `PaymentRequired`, `RateLimited`, `QuotaExceeded`
   */
  generateAudio(input: GenerateAudioInput): Promise<GenerateAudioOutput>
  /**
   * Like generateAudio, with the audio as the model makes it: a part in base64 on each line. The last one is `finished`, and has the address of the file and the metadata. An error before the first part is an answer with its status; one within is in the last line.
   * @throws ApiError `Runtime`, `ReferenceNotFound`, `PaymentRequired`, `RateLimited`, `QuotaExceeded`
   */
  generateAudioStream(input: GenerateAudioStreamInput): AsyncGenerator<GenerateAudioStreamOutput>
  /**
   * Asks a model for a picture, which becomes a public file of the bot. Models are tried in order until one answers.
   * @throws ApiError `Runtime`, `ReferenceNotFound`, `PaymentRequired`, `RateLimited`, `QuotaExceeded`
   */
  generateImage(input: GenerateImageInput): Promise<GenerateImageOutput>
  /**
   * Asks a language model for the next message of a conversation: text, JSON, or calls of tools. Models are tried in order until one answers.
   * @throws ApiError `Runtime`, `ReferenceNotFound`, `PaymentRequired`, `RateLimited`
   */
  generateText(input: GenerateTextInput): Promise<GenerateTextOutput>
  /**
   * Like generateText, with the answer as the model writes it: one chunk on each line. The last one is `finished`, and has the metadata. An error before the first text is an answer with its status; one within is in the last chunk.
   * @throws ApiError `Runtime`, `ReferenceNotFound`, `PaymentRequired`, `RateLimited`
   */
  generateTextStream(input: GenerateTextStreamInput): AsyncGenerator<GenerateTextStreamOutput>
  /**
   * Returns one of the bot’s conversations.
   */
  getConversation(input: GetConversationInput): Promise<GetConversationOutput>
  /**
   * Returns one of the bot’s events, with its outcome if it has ended.
   */
  getEvent(input: GetEventInput): Promise<GetEventOutput>
  /**
   * Gets a file by its id or its key.
   */
  getFile(input: GetFileInput): Promise<GetFileOutput>
  /**
   * Returns where a conversation waits in the flows of the bot; no position when no flow is in progress.
   */
  getFlowPosition(input: GetFlowPositionInput): Promise<GetFlowPositionOutput>
  /**
   * Returns the handover in progress in a conversation; no handover while the bot answers there.
   */
  getHandover(input: GetHandoverInput): Promise<GetHandoverOutput>
  /**
   * Returns one of the bot’s messages, incoming or outgoing.
   */
  getMessage(input: GetMessageInput): Promise<GetMessageOutput>
  /**
   * Returns the conversation of a channel with these tags; creates it if it does not exist.
   * @throws ApiError `ReferenceNotFound`
   */
  getOrCreateConversation(input: GetOrCreateConversationInput): Promise<GetOrCreateConversationOutput>
  /**
   * Returns a conversation’s message with these tags; creates or schedules it if it does not exist.
   * @throws ApiError `ReferenceNotFound`, `RateLimited`
   */
  getOrCreateMessage(input: GetOrCreateMessageInput): Promise<GetOrCreateMessageOutput>
  /**
   * Gives a table, and creates it first where there is none. A table that exists is not changed.
   * @throws ApiError `InvalidJsonSchema`, `LimitExceeded`, `QuotaExceeded`
   */
  getOrCreateTable(input: GetOrCreateTableInput): Promise<GetOrCreateTableOutput>
  /**
   * Returns the user with these tags; creates it if it does not exist.
   * @throws ApiError `ReferenceNotFound`
   */
  getOrCreateUser(input?: GetOrCreateUserInput): Promise<GetOrCreateUserOutput>
  /**
   * Returns the newest workflow with this name, these tags and the given conversation, user and parent; creates it if it does not exist.
   * @throws ApiError `ReferenceNotFound`, `RateLimited`
   */
  getOrCreateWorkflow(input: GetOrCreateWorkflowInput): Promise<GetOrCreateWorkflowOutput>
  /**
   * Returns a state; creates it if it does not exist.
   * @throws ApiError `InvalidJsonSchema`, `InvalidDataFormat`, `LimitExceeded`
   */
  getOrSetState(input: GetOrSetStateInput): Promise<GetOrSetStateOutput>
  /**
   * Returns a participant of a conversation.
   */
  getParticipant(input: GetParticipantInput): Promise<GetParticipantOutput>
  /**
   * Counts the members who may answer in the bot’s conversations and have their inbox open.
   */
  getPresence(input?: GetPresenceInput): Promise<GetPresenceOutput>
  /**
   * Returns a state. Each read of a state with an expiry restarts its expiry period. A state whose declared schema has a default for each field has these before it is set.
   */
  getState(input: GetStateInput): Promise<GetStateOutput>
  /**
   * Gives a table, with the number of its rows.
   */
  getTable(input: GetTableInput): Promise<GetTableOutput>
  /**
   * Gives the newest 20 imports and exports of a table.
   */
  getTableJobs(input: GetTableJobsInput): Promise<GetTableJobsOutput>
  /**
   * Gives a row of a table.
   */
  getTableRow(input: GetTableRowInput): Promise<GetTableRowOutput>
  /**
   * Returns one of the bot’s users; the bot’s own id is that of its own user.
   */
  getUser(input: GetUserInput): Promise<GetUserOutput>
  /**
   * Returns one of the bot’s workflows.
   */
  getWorkflow(input: GetWorkflowInput): Promise<GetWorkflowOutput>
  /**
   * Hands a conversation over to people: hooks and flows of the bot do not run for its events until a member or endHandover hands it back, or the time is over. The run that calls it goes on to its end. A conversation that is handed over already keeps its handover.
   * @throws ApiError `RelationConflict`
   */
  handover(input: HandoverInput): Promise<HandoverOutput>
  /**
   * Stores past messages of another system. The bot gets no events, and listeners get no entries.
   * @throws ApiError `ReferenceNotFound`
   */
  importMessages(input: ImportMessagesInput): Promise<ImportMessagesOutput>
  /**
   * Creates rows from the records of a file, in CSV or JSON, compressed by gzip or not. In a table with a key column a record changes the row that has its key. A job does it.
   * @throws ApiError `ReferenceNotFound`, `ResourceLockedConflict`
   */
  importTable(input: ImportTableInput): Promise<ImportTableOutput>
  /**
   * Gets or creates the user, the conversation and the message of a received message, in one call of an integration.
   * @throws ApiError `ReferenceNotFound`, `RateLimited`
   */
  initializeIncomingMessage(input?: InitializeIncomingMessageInput): Promise<InitializeIncomingMessageOutput>
  /**
   * Lists the bot’s conversations, or those of the calling integration, the newest first.
   */
  listConversations(input?: ListConversationsInput): Promise<ListConversationsOutput>
  /**
   * Lists the bot’s events, newest first. A page reads at most 10,000 events: with a filter that few events pass, it may have few or no events and still a nextToken. Those of a conversation, and those that wait, are found at once.
   */
  listEvents(input?: ListEventsInput): Promise<ListEventsOutput>
  /**
   * Lists the passages of an indexed file, in document order.
   */
  listFilePassages(input: ListFilePassagesInput): Promise<ListFilePassagesOutput>
  /**
   * Lists the values of a tag of the files that the caller may read, in order.
   */
  listFileTagValues(input: ListFileTagValuesInput): Promise<ListFileTagValuesOutput>
  /**
   * Lists the names of the tags of all files that the caller may read, in order.
   */
  listFileTags(input?: ListFileTagsInput): Promise<ListFileTagsOutput>
  /**
   * Lists the files that the caller may read, the newest first.
   */
  listFiles(input?: ListFilesInput): Promise<ListFilesOutput>
  /**
   * Lists the bot’s knowledge bases, the newest first.
   */
  listKnowledgeBases(input?: ListKnowledgeBasesInput): Promise<ListKnowledgeBasesOutput>
  /**
   * Lists the bot’s messages, newest first; with conversationId, those of one conversation.
   */
  listMessages(input?: ListMessagesInput): Promise<ListMessagesOutput>
  /**
   * Lists the language models that are known; none without a provider. A provider may have further ones, which calls can name too.
   */
  listModels(input?: ListModelsInput): Promise<ListModelsOutput>
  /**
   * Lists the participants of a conversation, the newest first.
   */
  listParticipants(input: ListParticipantsInput): Promise<ListParticipantsOutput>
  /**
   * Lists the tables of the bot, the oldest first; those with all given tags. Their definitions have at most 1 MB in a page.
   */
  listTables(input?: ListTablesInput): Promise<ListTablesOutput>
  /**
   * Always fails: the values of a tag can no longer be listed. It exists for published clients.
   * @throws ApiError `ResourceGone`
   */
  listTagValues(input: ListTagValuesInput): Promise<ListTagValuesOutput>
  /**
   * Lists the bot’s users, or those of the calling integration, the newest first.
   */
  listUsers(input?: ListUsersInput): Promise<ListUsersOutput>
  /**
   * Lists the voices of the models that speak; none without a provider. The voices of an OpenAI-compatible endpoint are not known.
   */
  listVoices(input?: ListVoicesInput): Promise<ListVoicesOutput>
  /**
   * Lists the bot’s workflows, newest first. A page reads at most 10,000 workflows: with a filter by status or user that few pass, it may have few or none and still a nextToken.
   */
  listWorkflows(input?: ListWorkflowsInput): Promise<ListWorkflowsOutput>
  /**
   * Sets the given top-level keys of a state and leaves the others; creates the state where there is none.
   * @throws ApiError `InvalidJsonSchema`, `InvalidDataFormat`, `LimitExceeded`
   */
  patchState(input: PatchStateInput): Promise<PatchStateOutput>
  /**
   * Removes a user from a conversation.
   */
  removeParticipant(input: RemoveParticipantInput): Promise<RemoveParticipantOutput>
  /**
   * Renames a column of a table; its values and attributes stay.
   * @throws ApiError `AlreadyExists`, `RelationConflict`
   */
  renameTableColumn(input: RenameTableColumnInput): Promise<RenameTableColumnOutput>
  /**
   * Hands a conversation back to the flows of the bot, which continue after the card that handed it over. The event takes its turn among those of the conversation.
   * @throws ApiError `RateLimited`
   */
  resumeFlow(input: ResumeFlowInput): Promise<ResumeFlowOutput>
  /**
   * Finds the passages of indexed files that match a question best.
   * @throws ApiError `InvalidQuery`
   */
  searchFiles(input: SearchFilesInput): Promise<SearchFilesOutput>
  /**
   * Replaces the passages of a file by given ones. Searches find them when the file is indexed.
   * @throws ApiError `QuotaExceeded`
   */
  setFilePassages(input: SetFilePassagesInput): Promise<SetFilePassagesOutput>
  /**
   * Replaces a state, or creates it; a payload of null removes it.
   * @throws ApiError `InvalidJsonSchema`, `InvalidDataFormat`, `LimitExceeded`
   */
  setState(input: SetStateInput): Promise<SetStateOutput>
  /**
   * Sets the expiry of a state: it is deleted after this time without a read or a write.
   */
  setStateExpiry(input: SetStateExpiryInput): Promise<SetStateExpiryOutput>
  /**
   * Starts a flow in a conversation, in the place of those in progress. The event takes its turn among those of the conversation.
   * @throws ApiError `ReferenceNotFound`, `RateLimited`
   */
  startFlow(input: StartFlowInput): Promise<StartFlowOutput>
  /**
   * Adds to a named counter of the bot for the current day in UTC.
   */
  trackAnalytics(input: TrackAnalyticsInput): Promise<TrackAnalyticsOutput>
  /**
   * Asks a model for the words that are spoken in an audio file. Models are tried in order until one answers.
   * @throws ApiError `Runtime`, `ReferenceNotFound`, `PaymentRequired`, `RateLimited`, `LimitExceeded`
   */
  transcribeAudio(input: TranscribeAudioInput): Promise<TranscribeAudioOutput>
  /**
   * Changes a conversation’s tags and properties; null removes one.
   */
  updateConversation(input: UpdateConversationInput): Promise<UpdateConversationOutput>
  /**
   * Changes what is known of a file; its content stays.
   * @throws ApiError `LimitExceeded`
   */
  updateFileMetadata(input: UpdateFileMetadataInput): Promise<UpdateFileMetadataOutput>
  /**
   * Renames a knowledge base, and changes its tags.
   * @throws ApiError `AlreadyExists`, `LimitExceeded`
   */
  updateKnowledgeBase(input: UpdateKnowledgeBaseInput): Promise<UpdateKnowledgeBaseOutput>
  /**
   * Changes a message’s tags, and replaces its payload if given. Listeners of the conversation get a new payload as `message_updated`.
   */
  updateMessage(input: UpdateMessageInput): Promise<UpdateMessageOutput>
  /**
   * Changes a table. Columns in `schema` are added or changed, null removes one, and the others stay. A column whose type changes loses its values.
   * @throws ApiError `AlreadyExists`, `InvalidJsonSchema`, `LimitExceeded`, `QuotaExceeded`, `RelationConflict`
   */
  updateTable(input: UpdateTableInput): Promise<UpdateTableOutput>
  /**
   * Changes the given columns of rows. A row that fails is reported in `errors`, and the others are changed.
   * @throws ApiError `LimitExceeded`
   */
  updateTableRows(input: UpdateTableRowsInput): Promise<UpdateTableRowsOutput>
  /**
   * Changes a user; null removes a field, a tag or a property.
   */
  updateUser(input: UpdateUserInput): Promise<UpdateUserOutput>
  /**
   * Changes a workflow. The status in_progress acknowledges the event that starts or continues it; with any other event it continues a workflow that is paused or listening. One that is still in progress after the event has been handled gets another event, which continues it. One that is listening is continued by the next event that names it, or by the end of a child workflow.
   * @throws ApiError `ReferenceNotFound`, `RelationConflict`
   */
  updateWorkflow(input: UpdateWorkflowInput): Promise<UpdateWorkflowOutput>
  /**
   * Creates a file, or replaces the one of that key: its content is erased, its id stays, and all else is as given. The content is sent to `uploadUrl`.
   * @throws ApiError `QuotaExceeded`, `LimitExceeded`, `ReferenceNotFound`
   */
  upsertFile(input: UpsertFileInput): Promise<UpsertFileOutput>
  /**
   * Changes the rows that have the same value in a column, and inserts the others. A row that fails is reported in `errors`.
   * @throws ApiError `LimitExceeded`, `QuotaExceeded`
   */
  upsertTableRows(input: UpsertTableRowsInput): Promise<UpsertTableRowsOutput>
}

export interface User {
  id: string
  createdAt: string
  updatedAt: string
  name?: string
  pictureUrl?: string
  profile?: string
  tags: Record<string, string>
  properties: Record<string, string>
}

export interface StoredFile {
  id: string
  botId: string
  key: string
  /** The address of its content: permanent when it is public, else for an hour. */
  url: string
  /** In bytes; null until the content is there. */
  size: number | null
  contentType: string
  tags: Record<string, string>
  metadata: JsonObject
  createdAt: string
  updatedAt: string
  accessPolicies: Array<'public_content' | 'integrations'>
  /** Whether it is to be found by searches. */
  index: boolean
  status:
    | 'upload_pending'
    | 'upload_failed'
    | 'upload_completed'
    | 'indexing_pending'
    | 'indexing_failed'
    | 'indexing_completed'
  owner: { type: 'bot' | 'integration' | 'user'; id?: string; name?: string; alias?: string }
  failedStatusReason?: string
  expiresAt?: string
  indexingStack?: 'v1' | 'v2'
}

export interface Conversation {
  id: string
  createdAt: string
  updatedAt: string
  channel: string
  integration: string
  tags: Record<string, string>
  messageCount: number
  properties: Record<string, string>
}

export interface StoredEvent {
  id: string
  createdAt: string
  type: string
  payload: JsonObject
  status: 'scheduled' | 'canceled' | 'pending' | 'processed' | 'ignored' | 'failed'
  failureReason: string | null
  conversationId?: string
  userId?: string
  messageId?: string
}

export interface KnowledgeBase {
  id: string
  name: string
  tags: Record<string, string>
}

export interface Message {
  id: string
  createdAt: string
  updatedAt: string
  type: string
  payload: JsonObject
  direction: 'incoming' | 'outgoing'
  userId: string
  conversationId: string
  tags: Record<string, string>
  origin?: 'synthetic'
}

export interface Table {
  id: string
  name: string
  schema: { type: 'object'; properties: Record<string, JsonObject>; additionalProperties: boolean; required?: string[] }
  factor: number
  frozen: boolean
  keyColumn: string | null
  tags: Record<string, string>
  isComputeEnabled: boolean
  createdAt: string
  updatedAt: string
}

export interface TableRow {
  id: number
  createdAt?: string
  updatedAt?: string
  computed: Record<string, { status: string; error?: string; updatedBy?: string; updatedAt?: string }>
  stale?: string[]
  similarity?: number
  [column: string]: any
}

export interface Workflow {
  id: string
  name: string
  status: 'pending' | 'in_progress' | 'failed' | 'completed' | 'listening' | 'paused' | 'timedout' | 'cancelled'
  input: JsonObject
  output: JsonObject
  createdAt: string
  updatedAt: string
  timeoutAt: string
  tags: Record<string, string>
  parentWorkflowId?: string
  conversationId?: string
  userId?: string
  completedAt?: string
  failureReason?: string
}

export interface StoredState {
  id: string
  createdAt: string
  updatedAt: string
  botId: string
  name: string
  type: 'bot' | 'user' | 'conversation' | 'workflow' | 'integration'
  payload: JsonObject
  conversationId?: string
  userId?: string
  expiry?: number
  expiresAt?: string
}

export interface PageMeta {
  nextToken?: string
}

export interface UploadableFile {
  id: string
  botId: string
  key: string
  /** The address of its content: permanent when it is public, else for an hour. */
  url: string
  /** In bytes; null until the content is there. */
  size: number | null
  contentType: string
  tags: Record<string, string>
  metadata: JsonObject
  createdAt: string
  updatedAt: string
  accessPolicies: Array<'public_content' | 'integrations'>
  /** Whether it is to be found by searches. */
  index: boolean
  status:
    | 'upload_pending'
    | 'upload_failed'
    | 'upload_completed'
    | 'indexing_pending'
    | 'indexing_failed'
    | 'indexing_completed'
  owner: { type: 'bot' | 'integration' | 'user'; id?: string; name?: string; alias?: string }
  failedStatusReason?: string
  expiresAt?: string
  indexingStack?: 'v1' | 'v2'
  /** Takes the content with one PUT, within a day and without credentials. */
  uploadUrl: string
}

export type ApiErrorType =
  | 'Unknown'
  | 'Internal'
  | 'Unauthorized'
  | 'PaymentRequired'
  | 'Forbidden'
  | 'QuotaExceeded'
  | 'ResourceNotFound'
  | 'MethodNotFound'
  | 'InvalidPayload'
  | 'InvalidJsonSchema'
  | 'InvalidDataFormat'
  | 'InvalidIdentifier'
  | 'ReferenceNotFound'
  | 'InvalidQuery'
  | 'Runtime'
  | 'BreakingChanges'
  | 'AlreadyExists'
  | 'RelationConflict'
  | 'ReferenceConstraint'
  | 'ResourceLockedConflict'
  | 'ResourceGone'
  | 'PayloadTooLarge'
  | 'LimitExceeded'
  | 'UnsupportedMediaType'
  | 'RateLimited'
  | 'OperationTimeout'

declare global {
  /**
   * The globals of isolates, beside ECMAScript's own. Isolates have no others: no Node, no document, no WebAssembly.
   * A test looks in an isolate for every name and member.
   */

  // Time

  function setTimeout<Arguments extends unknown[]>(
    callback: (...values: Arguments) => void,
    milliseconds?: number,
    ...values: Arguments
  ): number
  /** A promise's `resolve` takes a value that is not needed here. */
  function setTimeout(callback: (value: void) => void, milliseconds?: number): number
  function setInterval<Arguments extends unknown[]>(
    callback: (...values: Arguments) => void,
    milliseconds?: number,
    ...values: Arguments
  ): number
  function clearTimeout(timer?: number): void
  function clearInterval(timer?: number): void
  function queueMicrotask(callback: () => void): void
  /** Clocks tell whole milliseconds. */
  class Performance extends EventTarget {
    private constructor()
    readonly timeOrigin: number
    now(): number
    mark(name: string, options?: { startTime?: number; detail?: unknown }): PerformanceMark
    measure(name: string, start?: string | PerformanceMeasureOptions, end?: string): PerformanceMeasure
    clearMarks(name?: string): void
    clearMeasures(name?: string): void
    /** The last thousand entries. */
    getEntries(): PerformanceEntry[]
    getEntriesByName(name: string, type?: string): PerformanceEntry[]
    getEntriesByType(type: string): PerformanceEntry[]
    toJSON(): { timeOrigin: number }
  }
  var performance: Performance
  interface PerformanceMeasureOptions {
    start?: number | string
    end?: number | string
    duration?: number
    detail?: unknown
  }
  class PerformanceEntry {
    protected constructor()
    readonly name: string
    readonly entryType: string
    readonly startTime: number
    readonly duration: number
    toJSON(): unknown
  }
  class PerformanceMark extends PerformanceEntry {
    constructor(name: string, options?: { startTime?: number; detail?: unknown })
    readonly detail: unknown
  }
  class PerformanceMeasure extends PerformanceEntry {
    private constructor()
    readonly detail: unknown
  }

  /** Writes into the bot’s log. */
  var console: {
    log(...values: unknown[]): void
    info(...values: unknown[]): void
    debug(...values: unknown[]): void
    warn(...values: unknown[]): void
    error(...values: unknown[]): void
    dir(value: unknown): void
    dirxml(...values: unknown[]): void
    table(data: unknown, columns?: string[]): void
    trace(...values: unknown[]): void
    assert(condition?: unknown, ...values: unknown[]): void
    count(label?: string): void
    countReset(label?: string): void
    group(...values: unknown[]): void
    groupCollapsed(...values: unknown[]): void
    groupEnd(): void
    time(label?: string): void
    timeLog(label?: string, ...values: unknown[]): void
    timeEnd(label?: string): void
  }

  // Requests

  /**
   * Requests something of the world outside. It reaches the hosts that were granted with `permissions.net`, and no others;
   * the body of an answer is read while it comes.
   */
  function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>

  type HeadersInit = Headers | Record<string, string> | Iterable<readonly [string, string]>
  type BodyInit =
    | string
    | ArrayBuffer
    | ArrayBufferView
    | Blob
    | FormData
    | URLSearchParams
    | ReadableStream<Uint8Array>

  interface RequestInit {
    method?: string
    headers?: HeadersInit
    body?: BodyInit | null
    redirect?: 'follow' | 'error' | 'manual'
    signal?: AbortSignal | null
  }

  interface ResponseInit {
    status?: number
    statusText?: string
    headers?: HeadersInit
  }

  interface Body {
    readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null
    readonly bodyUsed: boolean
    text(): Promise<string>
    json(): Promise<any>
    bytes(): Promise<Uint8Array<ArrayBuffer>>
    arrayBuffer(): Promise<ArrayBuffer>
    blob(): Promise<Blob>
    formData(): Promise<FormData>
  }

  interface Request extends Body {}
  class Request {
    constructor(input: string | URL | Request, init?: RequestInit)
    readonly url: string
    readonly method: string
    readonly headers: Headers
    readonly redirect: 'follow' | 'error' | 'manual'
    readonly signal: AbortSignal
    clone(): Request
  }

  interface Response extends Body {}
  class Response {
    constructor(body?: BodyInit | null, init?: ResponseInit)
    static json(value: unknown, init?: ResponseInit): Response
    static redirect(url: string | URL, status?: number): Response
    static error(): Response
    readonly status: number
    readonly statusText: string
    readonly ok: boolean
    readonly headers: Headers
    readonly url: string
    readonly redirected: boolean
    readonly type: string
    clone(): Response
  }

  class Headers {
    constructor(source?: HeadersInit)
    append(name: string, value: string): void
    set(name: string, value: string): void
    delete(name: string): void
    has(name: string): boolean
    get(name: string): string | null
    getSetCookie(): string[]
    forEach(callback: (value: string, name: string, headers: Headers) => void): void
    entries(): IterableIterator<[string, string]>
    keys(): IterableIterator<string>
    values(): IterableIterator<string>
    [Symbol.iterator](): IterableIterator<[string, string]>
  }

  class FormData {
    append(name: string, value: string | Blob, filename?: string): void
    set(name: string, value: string | Blob, filename?: string): void
    delete(name: string): void
    has(name: string): boolean
    get(name: string): string | File | null
    getAll(name: string): (string | File)[]
    forEach(callback: (value: string | File, name: string, form: FormData) => void): void
    entries(): IterableIterator<[string, string | File]>
    keys(): IterableIterator<string>
    values(): IterableIterator<string | File>
    [Symbol.iterator](): IterableIterator<[string, string | File]>
  }

  class Blob {
    constructor(parts?: Iterable<string | ArrayBuffer | ArrayBufferView | Blob>, options?: { type?: string })
    readonly size: number
    readonly type: string
    slice(start?: number, end?: number, type?: string): Blob
    text(): Promise<string>
    bytes(): Promise<Uint8Array<ArrayBuffer>>
    arrayBuffer(): Promise<ArrayBuffer>
    stream(): ReadableStream<Uint8Array<ArrayBuffer>>
  }

  class File extends Blob {
    constructor(
      parts: Iterable<string | ArrayBuffer | ArrayBufferView | Blob>,
      name: string,
      options?: { type?: string; lastModified?: number },
    )
    readonly name: string
    readonly lastModified: number
  }

  class URL {
    constructor(url: string | URL, base?: string | URL)
    static canParse(url: string | URL, base?: string | URL): boolean
    static parse(url: string | URL, base?: string | URL): URL | null
    href: string
    readonly origin: string
    protocol: string
    username: string
    password: string
    host: string
    hostname: string
    port: string
    pathname: string
    search: string
    readonly searchParams: URLSearchParams
    hash: string
    toString(): string
    toJSON(): string
  }

  class URLSearchParams {
    constructor(source?: string | URLSearchParams | Record<string, string> | Iterable<readonly [string, string]>)
    readonly size: number
    append(name: string, value: string): void
    set(name: string, value: string): void
    delete(name: string, value?: string): void
    has(name: string, value?: string): boolean
    get(name: string): string | null
    getAll(name: string): string[]
    sort(): void
    forEach(callback: (value: string, name: string, parameters: URLSearchParams) => void): void
    entries(): IterableIterator<[string, string]>
    keys(): IterableIterator<string>
    values(): IterableIterator<string>
    [Symbol.iterator](): IterableIterator<[string, string]>
    toString(): string
  }

  // Events

  interface EventInit {
    bubbles?: boolean
    cancelable?: boolean
    composed?: boolean
  }

  class Event {
    constructor(type: string, init?: EventInit)
    readonly type: string
    readonly target: EventTarget | null
    readonly currentTarget: EventTarget | null
    readonly timeStamp: number
    readonly bubbles: boolean
    readonly cancelable: boolean
    readonly defaultPrevented: boolean
    preventDefault(): void
    stopPropagation(): void
    stopImmediatePropagation(): void
  }

  class CustomEvent<Detail = any> extends Event {
    constructor(type: string, init?: EventInit & { detail?: Detail })
    readonly detail: Detail
  }

  type EventListener = ((event: any) => void) | { handleEvent(event: any): void }

  class EventTarget {
    addEventListener(
      type: string,
      listener: EventListener | null,
      options?: boolean | { capture?: boolean; once?: boolean; passive?: boolean; signal?: AbortSignal },
    ): void
    removeEventListener(type: string, listener: EventListener | null, options?: boolean | { capture?: boolean }): void
    dispatchEvent(event: Event): boolean
  }

  class AbortController {
    readonly signal: AbortSignal
    abort(reason?: unknown): void
  }

  class AbortSignal extends EventTarget {
    private constructor()
    static abort(reason?: unknown): AbortSignal
    static timeout(milliseconds: number): AbortSignal
    static any(signals: Iterable<AbortSignal>): AbortSignal
    readonly aborted: boolean
    readonly reason: any
    onabort: ((event: Event) => void) | null
    throwIfAborted(): void
  }

  class DOMException extends Error {
    constructor(message?: string, name?: string)
    readonly code: number
  }

  // Text and bytes

  function atob(text: string): string
  function btoa(text: string): string
  function structuredClone<Value>(value: Value, options?: { transfer?: Iterable<ArrayBuffer> }): Value

  class TextEncoder {
    readonly encoding: string
    encode(text?: string): Uint8Array<ArrayBuffer>
    encodeInto(text: string, target: Uint8Array): { read: number; written: number }
  }

  interface TextDecoderOptions {
    fatal?: boolean
    ignoreBOM?: boolean
  }

  /** Knows UTF-8 alone. */
  class TextDecoder {
    constructor(label?: string, options?: TextDecoderOptions)
    readonly encoding: string
    readonly fatal: boolean
    readonly ignoreBOM: boolean
    decode(input?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string
  }

  type BufferEncoding =
    | 'utf8'
    | 'utf-8'
    | 'hex'
    | 'base64'
    | 'base64url'
    | 'latin1'
    | 'binary'
    | 'ascii'
    | 'utf16le'
    | 'ucs2'

  class Buffer extends Uint8Array<ArrayBuffer> {
    private constructor()
    static from(text: string, encoding?: BufferEncoding): Buffer
    static from(bytes: ArrayBuffer, offset?: number, length?: number): Buffer
    static from(bytes: ArrayLike<number> | Iterable<number>): Buffer
    static alloc(size: number, fill?: string | number | Uint8Array, encoding?: BufferEncoding): Buffer
    static allocUnsafe(size: number): Buffer
    static concat(list: readonly Uint8Array[], length?: number): Buffer
    static byteLength(value: string | ArrayBuffer | ArrayBufferView, encoding?: BufferEncoding): number
    static compare(one: Uint8Array, other: Uint8Array): -1 | 0 | 1
    static isBuffer(value: unknown): value is Buffer
    static isEncoding(encoding: string): encoding is BufferEncoding
    toString(encoding?: BufferEncoding, start?: number, end?: number): string
    toJSON(): { type: 'Buffer'; data: number[] }
    equals(other: Uint8Array): boolean
    compare(other: Uint8Array): -1 | 0 | 1
    copy(target: Uint8Array, targetStart?: number, start?: number, end?: number): number
    write(text: string, offset?: number, length?: number, encoding?: BufferEncoding): number
    readUInt8(offset?: number): number
    readUInt16BE(offset?: number): number
    readUInt16LE(offset?: number): number
    readUInt32BE(offset?: number): number
    readUInt32LE(offset?: number): number
    readInt32BE(offset?: number): number
    readInt32LE(offset?: number): number
    writeUInt8(value: number, offset?: number): number
    writeUInt16BE(value: number, offset?: number): number
    writeUInt16LE(value: number, offset?: number): number
    writeUInt32BE(value: number, offset?: number): number
    writeUInt32LE(value: number, offset?: number): number
    writeInt32BE(value: number, offset?: number): number
    writeInt32LE(value: number, offset?: number): number
  }

  // Streams

  interface QueuingStrategy<Chunk = any> {
    highWaterMark?: number
    size?(chunk: Chunk): number
  }

  interface UnderlyingSource<Chunk> {
    type?: 'bytes'
    start?(controller: ReadableStreamDefaultController<Chunk>): void | Promise<void>
    pull?(controller: ReadableStreamDefaultController<Chunk>): void | Promise<void>
    cancel?(reason?: unknown): void | Promise<void>
  }

  interface UnderlyingSink<Chunk> {
    start?(controller: WritableStreamDefaultController): void | Promise<void>
    write?(chunk: Chunk, controller: WritableStreamDefaultController): void | Promise<void>
    close?(): void | Promise<void>
    abort?(reason?: unknown): void | Promise<void>
  }

  interface Transformer<Input, Output> {
    start?(controller: TransformStreamDefaultController<Output>): void | Promise<void>
    transform?(chunk: Input, controller: TransformStreamDefaultController<Output>): void | Promise<void>
    flush?(controller: TransformStreamDefaultController<Output>): void | Promise<void>
  }

  interface StreamPipeOptions {
    preventClose?: boolean
    preventAbort?: boolean
    preventCancel?: boolean
    signal?: AbortSignal
  }

  class ReadableStream<Chunk = any> {
    constructor(source?: UnderlyingSource<Chunk>, strategy?: QueuingStrategy<Chunk>)
    readonly locked: boolean
    cancel(reason?: unknown): Promise<void>
    getReader(): ReadableStreamDefaultReader<Chunk>
    pipeThrough<Output>(
      pair: { readable: ReadableStream<Output>; writable: WritableStream<Chunk> },
      options?: StreamPipeOptions,
    ): ReadableStream<Output>
    pipeTo(target: WritableStream<Chunk>, options?: StreamPipeOptions): Promise<void>
    tee(): [ReadableStream<Chunk>, ReadableStream<Chunk>]
    values(options?: { preventCancel?: boolean }): AsyncIterableIterator<Chunk>
    [Symbol.asyncIterator](options?: { preventCancel?: boolean }): AsyncIterableIterator<Chunk>
  }

  class ReadableStreamDefaultReader<Chunk = any> {
    constructor(stream: ReadableStream<Chunk>)
    readonly closed: Promise<void>
    read(): Promise<{ done: false; value: Chunk } | { done: true; value?: undefined }>
    releaseLock(): void
    cancel(reason?: unknown): Promise<void>
  }

  class ReadableStreamDefaultController<Chunk = any> {
    private constructor()
    readonly desiredSize: number | null
    enqueue(chunk: Chunk): void
    close(): void
    error(reason?: unknown): void
  }

  class ReadableStreamBYOBReader {
    constructor(stream: ReadableStream<Uint8Array>)
    readonly closed: Promise<void>
    read<View extends ArrayBufferView>(view: View): Promise<{ done: boolean; value: View | undefined }>
    releaseLock(): void
    cancel(reason?: unknown): Promise<void>
  }

  class ReadableStreamBYOBRequest {
    private constructor()
    readonly view: ArrayBufferView | null
    respond(bytesWritten: number): void
    respondWithNewView(view: ArrayBufferView): void
  }

  class ReadableByteStreamController {
    private constructor()
    readonly byobRequest: ReadableStreamBYOBRequest | null
    readonly desiredSize: number | null
    enqueue(chunk: ArrayBufferView): void
    close(): void
    error(reason?: unknown): void
  }

  class WritableStream<Chunk = any> {
    constructor(sink?: UnderlyingSink<Chunk>, strategy?: QueuingStrategy<Chunk>)
    readonly locked: boolean
    abort(reason?: unknown): Promise<void>
    close(): Promise<void>
    getWriter(): WritableStreamDefaultWriter<Chunk>
  }

  class WritableStreamDefaultWriter<Chunk = any> {
    constructor(stream: WritableStream<Chunk>)
    readonly closed: Promise<void>
    readonly ready: Promise<void>
    readonly desiredSize: number | null
    write(chunk?: Chunk): Promise<void>
    close(): Promise<void>
    abort(reason?: unknown): Promise<void>
    releaseLock(): void
  }

  class WritableStreamDefaultController {
    private constructor()
    readonly signal: AbortSignal
    error(reason?: unknown): void
  }

  class TransformStream<Input = any, Output = any> {
    constructor(
      transformer?: Transformer<Input, Output>,
      writableStrategy?: QueuingStrategy<Input>,
      readableStrategy?: QueuingStrategy<Output>,
    )
    readonly readable: ReadableStream<Output>
    readonly writable: WritableStream<Input>
  }

  class TransformStreamDefaultController<Output = any> {
    private constructor()
    readonly desiredSize: number | null
    enqueue(chunk: Output): void
    terminate(): void
    error(reason?: unknown): void
  }

  class TextEncoderStream {
    readonly encoding: string
    readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>
    readonly writable: WritableStream<string>
  }

  class TextDecoderStream {
    constructor(label?: string, options?: TextDecoderOptions)
    readonly encoding: string
    readonly fatal: boolean
    readonly ignoreBOM: boolean
    readonly readable: ReadableStream<string>
    readonly writable: WritableStream<ArrayBuffer | ArrayBufferView>
  }

  class CountQueuingStrategy {
    constructor(init: { highWaterMark: number })
    readonly highWaterMark: number
    readonly size: (chunk?: unknown) => 1
  }

  class ByteLengthQueuingStrategy {
    constructor(init: { highWaterMark: number })
    readonly highWaterMark: number
    readonly size: (chunk: ArrayBufferView) => number
  }

  // Cryptography

  class Crypto {
    private constructor()
    getRandomValues<View extends ArrayBufferView>(view: View): View
    randomUUID(): `${string}-${string}-${string}-${string}-${string}`
    readonly subtle: SubtleCrypto
  }
  var crypto: Crypto

  type KeyUsage = 'encrypt' | 'decrypt' | 'sign' | 'verify' | 'deriveKey' | 'deriveBits' | 'wrapKey' | 'unwrapKey'
  type CryptoBytes = ArrayBuffer | ArrayBufferView
  type CryptoAlgorithm = string | { name: string; [parameter: string]: unknown }

  interface JsonWebKey {
    kty?: string
    [parameter: string]: any
  }

  interface CryptoKeyPair {
    publicKey: CryptoKey
    privateKey: CryptoKey
  }

  class CryptoKey {
    private constructor()
    readonly type: 'secret' | 'public' | 'private'
    readonly extractable: boolean
    readonly algorithm: { name: string; [parameter: string]: unknown }
    readonly usages: readonly string[]
  }

  /**
   * SHA-1 to SHA-512, HMAC, AES-GCM, AES-CBC, AES-CTR, AES-KW, ECDH, ECDSA, Ed25519, X25519, RSASSA-PKCS1-v1_5, RSA-PSS, RSA-OAEP,
   * PBKDF2 and HKDF.
   */
  class SubtleCrypto {
    private constructor()
    digest(algorithm: CryptoAlgorithm, data: CryptoBytes): Promise<ArrayBuffer>
    importKey(
      format: 'jwk',
      key: JsonWebKey,
      algorithm: CryptoAlgorithm,
      extractable: boolean,
      usages: Iterable<KeyUsage>,
    ): Promise<CryptoKey>
    importKey(
      format: 'raw' | 'spki' | 'pkcs8',
      key: CryptoBytes,
      algorithm: CryptoAlgorithm,
      extractable: boolean,
      usages: Iterable<KeyUsage>,
    ): Promise<CryptoKey>
    exportKey(format: 'jwk', key: CryptoKey): Promise<JsonWebKey>
    exportKey(format: 'raw' | 'spki' | 'pkcs8', key: CryptoKey): Promise<ArrayBuffer>
    generateKey(
      algorithm: CryptoAlgorithm,
      extractable: boolean,
      usages: Iterable<KeyUsage>,
    ): Promise<CryptoKey | CryptoKeyPair>
    sign(algorithm: CryptoAlgorithm, key: CryptoKey, data: CryptoBytes): Promise<ArrayBuffer>
    verify(algorithm: CryptoAlgorithm, key: CryptoKey, signature: CryptoBytes, data: CryptoBytes): Promise<boolean>
    encrypt(algorithm: CryptoAlgorithm, key: CryptoKey, data: CryptoBytes): Promise<ArrayBuffer>
    decrypt(algorithm: CryptoAlgorithm, key: CryptoKey, data: CryptoBytes): Promise<ArrayBuffer>
    /** @param length in bits; null for the whole secret of ECDH and X25519 */
    deriveBits(algorithm: CryptoAlgorithm, key: CryptoKey, length?: number | null): Promise<ArrayBuffer>
    deriveKey(
      algorithm: CryptoAlgorithm,
      key: CryptoKey,
      derived: CryptoAlgorithm,
      extractable: boolean,
      usages: Iterable<KeyUsage>,
    ): Promise<CryptoKey>
    wrapKey(
      format: 'jwk' | 'raw' | 'spki' | 'pkcs8',
      key: CryptoKey,
      wrappingKey: CryptoKey,
      algorithm: CryptoAlgorithm,
    ): Promise<ArrayBuffer>
    unwrapKey(
      format: 'jwk' | 'raw' | 'spki' | 'pkcs8',
      wrappedKey: CryptoBytes,
      unwrappingKey: CryptoKey,
      algorithm: CryptoAlgorithm,
      keyAlgorithm: CryptoAlgorithm,
      extractable: boolean,
      usages: Iterable<KeyUsage>,
    ): Promise<CryptoKey>
  }

  // Messages, between parts of the code of one isolate

  interface MessageEventInit extends EventInit {
    data?: unknown
    origin?: string
    lastEventId?: string
  }

  class MessageEvent<Data = any> extends Event {
    constructor(type: string, init?: MessageEventInit)
    readonly data: Data
    readonly origin: string
    readonly lastEventId: string
    readonly ports: readonly MessagePort[]
  }

  class CloseEvent extends Event {
    constructor(type: string, init?: EventInit & { wasClean?: boolean; code?: number; reason?: string })
    readonly wasClean: boolean
    readonly code: number
    readonly reason: string
  }

  /** A message ends with the event that posts it, as a timer does. */
  class MessagePort extends EventTarget {
    private constructor()
    onmessage: ((event: MessageEvent) => void) | null
    onmessageerror: ((event: MessageEvent) => void) | null
    postMessage(message: unknown, transfer?: ArrayBuffer[]): void
    start(): void
    close(): void
  }

  class MessageChannel {
    readonly port1: MessagePort
    readonly port2: MessagePort
  }

  class BroadcastChannel extends EventTarget {
    constructor(name: string)
    readonly name: string
    onmessage: ((event: MessageEvent) => void) | null
    onmessageerror: ((event: MessageEvent) => void) | null
    postMessage(message: unknown): void
    close(): void
  }

  // Compression

  type CompressionFormat = 'gzip' | 'deflate' | 'deflate-raw'

  class CompressionStream {
    constructor(format: CompressionFormat)
    readonly readable: ReadableStream<Uint8Array>
    readonly writable: WritableStream<ArrayBuffer | ArrayBufferView>
  }

  class DecompressionStream {
    constructor(format: CompressionFormat)
    readonly readable: ReadableStream<Uint8Array>
    readonly writable: WritableStream<ArrayBuffer | ArrayBufferView>
  }

  // Patterns of addresses

  interface URLPatternInit {
    protocol?: string
    username?: string
    password?: string
    hostname?: string
    port?: string
    pathname?: string
    search?: string
    hash?: string
    baseURL?: string
  }

  interface URLPatternPart {
    input: string
    groups: Record<string, string | undefined>
  }

  type URLPatternResult = Record<Exclude<keyof URLPatternInit, 'baseURL'>, URLPatternPart> & {
    inputs: (string | URLPatternInit)[]
  }

  class URLPattern {
    constructor(pattern?: string | URLPatternInit, base?: string)
    readonly protocol: string
    readonly username: string
    readonly password: string
    readonly hostname: string
    readonly port: string
    readonly pathname: string
    readonly search: string
    readonly hash: string
    test(input?: string | URLPatternInit, base?: string): boolean
    exec(input?: string | URLPatternInit, base?: string): URLPatternResult | null
  }

  // The surroundings

  /** Fixed answers, which say nothing of the machine. */
  class Navigator {
    private constructor()
    readonly hardwareConcurrency: number
    readonly language: string
    readonly languages: readonly string[]
    readonly platform: string
    readonly userAgent: string
  }
  var navigator: Navigator
}
