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
