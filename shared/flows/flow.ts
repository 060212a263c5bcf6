import { closedObject } from '../schema.ts'
import { destination, expression, id } from './fields.ts'

/**
 * A flow is a graph of nodes; a node is a list of cards, which run in order. Flows are part of a bot version. This is
 * the schema of a flow without its cards; `cards.ts` has theirs.
 *
 * Four flows run by themselves: `main` handles messages, `error` follows a failure, `timeout` a wait that is too long,
 * and `end` the end of a conversation.
 */

export const maxFlows = 100
export const maxNodes = 1000
/** Cards of all flows of a bot. */
export const maxCards = 5000
/** Cron triggers of all flows of a bot: the schedules of all bots run one after the other. */
export const maxCronTriggers = 20
/** Characters of all flows of a bot, as JSON. */
export const maxCharacters = 2 * 1024 * 1024

const trigger = closedObject(
  { id },
  {
    event: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description:
        'The type of the events that start the flow; `alias:type` for those of an integration, `conversation_started` ' +
        'for a new conversation.',
    },
    cron: {
      type: 'string',
      maxLength: 200,
      description: 'In the place of `event`: the times at which the flow starts, as a cron expression in UTC.',
    },
    integration: { type: 'string', maxLength: 200, description: 'The name of the integration that sent the event.' },
    filter: { ...expression, description: 'Whether the event starts the flow.' },
    interrupts: {
      type: 'boolean',
      description: 'Whether the flow starts although another one waits for an answer, which then waits on.',
    },
  },
)

export const node = closedObject(
  {
    id,
    cards: {
      type: 'array',
      maxItems: 500,
      items: {
        type: 'object',
        required: ['id', 'type'],
        properties: {
          id,
          type: { type: 'string', maxLength: 64 },
          ports: { type: 'object', maxProperties: 200, additionalProperties: destination },
        },
      },
    },
  },
  {
    name: { type: 'string', maxLength: 200 },
    next: { ...destination, description: 'Where the flow continues after the last card. Absent or null: it ends.' },
  },
)

export const flow = closedObject(
  {
    id,
    start: { ...id, description: 'The node at which the flow begins.' },
    nodes: { type: 'array', minItems: 1, maxItems: maxNodes, items: node },
  },
  {
    name: { type: 'string', maxLength: 200 },
    description: { type: 'string', maxLength: 2000 },
    variables: {
      type: 'object',
      maxProperties: 200,
      propertyNames: { pattern: '^(?!(__proto__|constructor|prototype)$)[A-Za-z_][A-Za-z0-9_]*$' },
      additionalProperties: closedObject(
        {},
        { default: { title: 'a value' }, description: { type: 'string', maxLength: 2000 } },
      ),
      description: 'The variables of the flow, `workflow.<name>`, with their values at its start.',
    },
    onError: { ...destination, description: 'Where the flow continues after a card has failed.' },
    timeout: {
      ...closedObject({ seconds: { type: 'integer', minimum: 0, maximum: 366 * 24 * 60 * 60 } }, { to: destination }),
      description:
        'How long a card waits for an answer, 0 for ever, and where the flow continues then; default: 1800 seconds and ' +
        'flow `timeout`.',
    },
    always: {
      type: 'array',
      maxItems: 100,
      items: closedObject({ if: expression, to: destination }),
      description: 'Routes that an answer to a waiting card takes before the card reads it.',
    },
    triggers: { type: 'array', maxItems: 100, items: trigger },
  },
)

/** The positions of a flow's nodes in its picture. */
export const flowLayout = {
  type: 'object',
  maxProperties: maxNodes,
  additionalProperties: closedObject({ x: { type: 'number' }, y: { type: 'number' } }),
} as const

/** A destination, a literal value or an expression stand in the fields of a card; its type says which it has. */
export interface Card {
  id: string
  type: string
  ports?: Record<string, string | null>
  [field: string]: unknown
}

export interface FlowNode {
  id: string
  name?: string
  cards: Card[]
  next?: string | null
}

export interface Trigger {
  id: string
  event?: string
  cron?: string
  integration?: string
  filter?: unknown
  interrupts?: boolean
}

/** A flow, after validation. */
export interface Flow {
  id: string
  name?: string
  description?: string
  start: string
  nodes: FlowNode[]
  variables?: Record<string, { default?: unknown; description?: string }>
  onError?: string | null
  timeout?: { seconds: number; to?: string | null }
  always?: { if: unknown; to: string | null }[]
  triggers?: Trigger[]
}
