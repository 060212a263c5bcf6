import type * as operations from '../operations/index.ts'
import type { Infer } from '../schema.ts'

export type OperationName = keyof typeof operations

/** The answer of an operation, by its name: the type that clients of this repository read, from the operation's schema. */
export type AnswerOf<Name extends OperationName> = Infer<(typeof operations)[Name]['output']>
