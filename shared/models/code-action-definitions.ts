import { closedObject, type Infer } from '../schema.ts'
import { jsonSchema, words } from './definition.ts'

/** The value of `export const actionDefinitions`: descriptions of the code's own actions, by name. */
export const codeActionDefinitions = {
  type: 'object',
  additionalProperties: closedObject(
    {},
    { title: words.title, description: { type: 'string', maxLength: 2000 }, input: jsonSchema },
  ),
} as const

export type CodeActionDefinitions = Infer<typeof codeActionDefinitions>
