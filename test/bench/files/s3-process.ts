import { startS3, type S3Server } from '../../support/s3.ts'
import { answerQuestions } from '../asked-process.ts'

/** Starts the store, and asks for the settings of a platform that uses it. */
export type S3Question = Record<string, never>
export type S3Answer = { environment: NodeJS.ProcessEnv }

let started: Promise<S3Server> | undefined

answerQuestions(async (_question: S3Question): Promise<S3Answer> => {
  const { environment } = await (started ??= startS3())
  return { environment }
})
