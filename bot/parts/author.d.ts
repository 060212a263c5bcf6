/**
 * What a bot declares of itself, for the rest of its types to follow:
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
 * A part that is not declared takes anything, except for events: there, the types that the platform makes are known.
 */

/** What the bot keeps of itself. */
export interface BotState {}
/** What it keeps of each user. */
export interface UserState {}
/** What it keeps of each conversation. */
export interface ConversationState {}
/** What it keeps of each conversation until that has been quiet for 30 minutes. */
export interface SessionState {}
/** What it keeps while one event is handled. */
export interface TempState {}

/** The types of events that the bot hears of beside the platform's, each with its payload. */
export interface Events {}

/** The actions that it calls, by name, and as `alias:name` those of its integrations: each a function of its input. */
export interface Actions {}

/** Its secrets, by the names that they were given in. */
export interface Secrets {}

/** Any JSON object. */
export type JsonObject = Record<string, any>

/** What is declared, or anything where nothing is. */
type OrAnything<Declared> = [keyof Declared] extends [never] ? JsonObject : Declared

type ValueOf<Type> = Type[keyof Type]

/** JSON objects, saved when the event has been handled, of up to 128 KB each. */
export interface State {
  /** Of the bot, whoever it talks to. */
  bot: OrAnything<BotState>
  /** Of the user, in whichever conversation. */
  user: OrAnything<UserState>
  /** Of the conversation. */
  conversation: OrAnything<ConversationState>
  /** Of the conversation; forgotten when it has been quiet for 30 minutes. */
  session: OrAnything<SessionState>
  /** Of this event; forgotten when it has been handled. */
  temp: OrAnything<TempState>
}

// Messages

export type MessageType = keyof MessagePayloads

/** What a message says, its type beside the rest: `if (payload.type === 'image') payload.imageUrl`. */
export type MessagePayload = ValueOf<{
  [Type in MessageType]: { type: Type; metadata?: JsonObject } & MessagePayloads[Type]
}>

/** What a message says, its type apart, as it is sent. */
export type MessageContent = ValueOf<{
  [Type in MessageType]: { type: Type; payload: MessagePayloads[Type] & { metadata?: JsonObject } }
}>

// Events

interface EventBase<Type extends string, Payload> extends Omit<
  EventObject,
  'createdOn' | 'type' | 'payload' | 'state'
> {
  createdOn: Date
  type: Type
  payload: Payload
  state: State
  /** What the code of this event has found so far; absent until it has searched. It is not stored. */
  kb?: EventKnowledge
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

/** Somebody has said something to the bot. */
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

/** A state of the bot's has expired. */
type StateExpired = EventBase<'state_expired', { state: StoredState }>

/** Something has happened to a workflow. */
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

/** Anything that has happened but a message, to be told apart by `type`. */
export type IncomingEvent =
  | CustomEventOfChat
  | StateExpired
  | WorkflowUpdate
  | ValueOf<{ [Type in keyof Events & string]: EventBase<Type, Events[Type]> }>

/** The event behind an action that was called over HTTP. */
type ActionTriggered = EventBase<'action_triggered', { type: string; input: JsonObject }>

/** Whatever the bot is handling. */
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

/** What every hook and action gets. */
export interface Context<Event = AnyEvent> {
  /** What is being handled. */
  event: Event
  /** The platform, as this bot may use it. */
  client: Client
  /** The same as `event.state`. */
  state: State
  /** Writes into the bot's log, as `console` does. */
  logger: Logger
  env: Environment
}

/** What a hook may return: `data` replaces the value for what follows, `stop` ends the pipeline. */
export type HookResult<Data> = { data?: Data; stop?: boolean } | undefined | void

/** One hook, or a list of hooks that run in order. */
type Hook<Argument, Data> = HookFunction<Argument, Data> | readonly HookFunction<Argument, Data>[]
type HookFunction<Argument, Data> = (argument: Argument) => HookResult<Data> | Promise<HookResult<Data>>

/** What a bot says, before it is stored. */
export type OutgoingMessage = CreateMessageInput

/** An action that the bot calls. */
export interface ActionCall {
  type: string
  input: JsonObject
}

/** What a bot does when something happens: `export const hooks: Hooks = { … }`. */
export interface Hooks {
  /** Somebody has said something: before the hooks that answer. */
  beforeIncomingMessage?: Hook<Context<IncomingMessage>, IncomingMessage>
  /** Somebody has said something. */
  afterIncomingMessage?: Hook<Context<IncomingMessage>, IncomingMessage>
  /** Something else has happened: before the hooks that react. */
  beforeIncomingEvent?: Hook<Context<IncomingEvent>, IncomingEvent>
  /** Something else has happened. */
  afterIncomingEvent?: Hook<Context<IncomingEvent>, IncomingEvent>
  /** The bot is about to say something. `stop` keeps it from being said. */
  beforeOutgoingMessage?: Hook<Context & { message: OutgoingMessage }, OutgoingMessage>
  /** The bot has said something. */
  afterOutgoingMessage?: Hook<Context & { message: Message }, Message>
  /** The bot is about to call an action. `stop` keeps it from being called. */
  beforeCallAction?: Hook<Context & { action: ActionCall }, ActionCall>
  /** The bot has called an action. */
  afterCallAction?: Hook<Context & { action: ActionCall & { output: JsonObject } }, ActionCall & { output: JsonObject }>
  /** The event has been handled, though a hook may have stopped the pipeline. */
  afterTurnEnd?: Hook<Context, AnyEvent>
}

/** What an action gets. */
export interface ActionContext<Input = JsonObject> extends Context {
  input: Input
}

/** An action, by its input and what it returns: a JSON object. */
export type Action<Input = JsonObject, Output extends object | void = object | void> = (
  argument: ActionContext<Input>,
) => Output | Promise<Output>

/** What `export const actions` has, for `interface Actions extends ActionsOf<typeof actions> {}`. */
export type ActionsOf<Table> = {
  [Name in keyof Table]: Table[Name] extends (argument: ActionContext<infer Input>) => infer Output
    ? (input: Input) => Awaited<Output>
    : never
}

/** `export const retry: Retry = { attempts: 3 }`: how often an event is tried whose hook throws. */
export interface Retry {
  /** From 1 to 10. */
  attempts: number
  /** Milliseconds to the second try, twice as many to the third, and so on; 1000 unless given. */
  backoff?: number
}

// The client

type InputOf<Declared> = Declared extends (input: infer Input) => any ? Input : JsonObject
type OutputOf<Declared> = Declared extends (...input: any[]) => infer Output ? Awaited<Output> : JsonObject

/** The platform, as bot code may use it. An error that it throws is an `ApiError`. */
export interface Client extends Omit<Operations, 'callAction'> {
  /** Calls an action of the bot's own, or as `alias:action` one of an integration's, and gives its output. */
  callAction<Name extends ([keyof Actions] extends [never] ? string : keyof Actions)>(
    input: Name extends keyof Actions
      ? { type: Name; input: InputOf<Actions[Name]> }
      : { type: string; input: JsonObject },
  ): Promise<{ output: Name extends keyof Actions ? OutputOf<Actions[Name]> : JsonObject; meta: { cached: boolean } }>
  /** Begins a message that is shown while it is being written. */
  streamMessage(conversationId: string): MessageStream
}

/** A message that is shown while it is being written. One that is left open ends with its event. */
export interface MessageStream {
  readonly id: string
  /** Shows some more of it. */
  write(text: string): Promise<void>
  /** Says the message: all that was written, or another. */
  end(message?: MessageContent & { tags?: Record<string, string> }): Promise<{ message: Message }>
  /** Takes it back. */
  abort(): Promise<void>
}

/** What `client` throws when the platform refuses. */
export interface ApiError extends Error {
  name: 'ApiError'
  /** By which the platform's log knows it. */
  id: string
  /** The HTTP status. */
  code: number
  type: ApiErrorType
  metadata?: JsonObject
}

// Integrations

/** Where an integration is installed. */
export interface InstallationContext<Configuration = JsonObject> {
  botId: string
  integrationId: string
  integrationAlias: string
  configuration: Configuration
  configurationType: string | null
  webhookId: string
  /** Where requests reach its `handler`. */
  webhookUrl: string
}

/** What every function of an integration gets. */
export interface IntegrationContext<Configuration = JsonObject> {
  ctx: InstallationContext<Configuration>
  client: Client
  logger: Logger
  env: Environment
}

/** A request to an integration's webhook. */
export interface WebhookRequest {
  method: string
  /** What follows the webhook's own address; percent-encoded. */
  path: string
  /** Without the question mark. */
  query: string
  /** By name in lower case. */
  headers: Record<string, string>
  /** Of a body that is larger than a quarter of the isolate's memory, it throws a `RangeError`: use `stream`. */
  body?: string
  /** Set where the body is no text, and so is in base64. */
  isBase64?: boolean
  /** Reads the body in parts of up to 64 KB, however large it is, each time from its beginning; at most 16 times. */
  stream(): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>
}

/** What a webhook's handler answers. */
export type WebhookResponse =
  | {
      /** 200 unless given. */
      status?: number
      headers?: Record<string, string>
      /** Text as it is, anything else as JSON. */
      body?: unknown
      /** Set where `body` is base64 of what is no text. */
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

/** What the bot says in a conversation of an integration. */
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
