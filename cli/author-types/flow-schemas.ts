import { cards, type CardType } from '#shared/flows/cards.ts'
import { variable, type Ports } from '#shared/flows/fields.ts'

/** The keywords of JSON Schema that the schemas of flows use. */
export interface FlowSchema {
  type?: string
  title?: string
  description?: string
  nullable?: boolean
  enum?: readonly unknown[]
  const?: unknown
  pattern?: string
  minimum?: number
  maximum?: number
  required?: readonly string[]
  properties?: Record<string, FlowSchema>
  additionalProperties?: boolean | FlowSchema
  propertyNames?: FlowSchema
  items?: FlowSchema
  anyOf?: readonly FlowSchema[]
}

export interface DescribedCard {
  type: string
  description: string
  required: Record<string, FlowSchema>
  optional: Record<string, FlowSchema>
  ports: Ports
  /** Whether each option or case is a port too. */
  hasOwnPorts: boolean
}

/** The cards as their schemas describe them, in the order of the schemas. */
export const describedCards: DescribedCard[] = (Object.keys(cards) as CardType[]).map((type) => {
  const card = cards[type] as unknown as Omit<DescribedCard, 'type' | 'hasOwnPorts'>
  return { ...card, type, hasOwnPorts: 'options' in card.required || 'cases' in card.required }
})

/** A part of a card's schema that has a name for authors. */
export type Named = 'expression' | 'value' | 'message' | 'code' | 'destination' | 'variable'

export function nameOf({ title, type, nullable, pattern }: FlowSchema): Named | undefined {
  if (title === 'an expression') return 'expression'
  if (title === 'a value') return 'value'
  if (title === 'JavaScript') return 'code'
  if (title?.startsWith('a text, a message') === true) return 'message'
  if (type === 'string' && nullable === true) return 'destination'
  return pattern !== undefined && pattern === variable.pattern ? 'variable' : undefined
}
