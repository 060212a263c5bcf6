import type * as operations from '../operations/index.ts'
import type { Infer } from '../schema.ts'

export type OperationName = keyof typeof operations

/** The type of an operation's answer, by the operation's name: clients in this repository infer it from the schema. */
export type AnswerOf<Name extends OperationName> = Infer<(typeof operations)[Name]['output']>
