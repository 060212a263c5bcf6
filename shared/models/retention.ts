import { closedObject, type Infer } from '../schema.ts'

/** The longest retention, ten years. */
export const maxRetentionDays = 3650

const days = (description: string) => ({ type: 'integer', minimum: 0, maximum: maxRetentionDays, description }) as const

/** After how many days the platform deletes rows of a bot; 0 for never. An absent field is the operator's default. */
export const retention = {
  ...closedObject(
    {},
    {
      messageDays: days('Messages and events of conversations, by their age.'),
      conversationDays: days('Conversations, since their newest entry.'),
      eventDays: days('Events and workflows without a conversation, by their age.'),
      userDays: days('Users without a conversation, since their last one was active or they were changed.'),
    },
  ),
  description: 'Days after which rows are deleted, 0 for never. An absent field has the default of the operator.',
} as const

export type Retention = Infer<typeof retention>

/** The retention of a bot, completed by the operator's. */
export function completeRetention(own: Retention, operators: Required<Retention>): Required<Retention> {
  return { ...operators, ...own }
}

export const retentionInEffect = {
  ...closedObject({
    messageDays: { type: 'integer' },
    conversationDays: { type: 'integer' },
    eventDays: { type: 'integer' },
    userDays: { type: 'integer' },
  }),
  description: '`retention`, completed by the defaults of the operator.',
} as const
