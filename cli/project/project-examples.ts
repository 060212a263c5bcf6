import { join } from 'node:path'
import { didYouMean } from '#shared/did-you-mean.ts'
import { misused } from '../failure.ts'
import { home } from './own-package.ts'

/** The examples that a project may begin as, by name. */
export const projectExamples = {
  faq: 'answers questions by a language model, and streams the answers',
  handover: 'answers frequent questions, and hands others over to people',
  github: 'announces issues and pull requests, from a webhook with a signature',
  webhook: 'talks with any service over HTTP, with a token and a signature',
  slack: 'talks in Slack',
  telegram: 'talks in Telegram',
} as const

export type ExampleName = keyof typeof projectExamples

export function exampleFolder(name: ExampleName): string {
  return join(home, 'templates', 'examples', name)
}

/** @throws Failure when there is no such example */
export function toExampleName(given: string): ExampleName {
  if (Object.hasOwn(projectExamples, given)) return given as ExampleName
  const names = Object.keys(projectExamples)
  const near = didYouMean(given, names)
  throw misused(
    `There is no example "${given}"${near === undefined ? '' : `; did you mean "${near}"?`}: there are ${names.join(', ')}`,
  )
}

/** The examples as a list, for the help. */
export function listExamples(): string {
  return Object.entries(projectExamples)
    .map(([name, summary]) => `  ${name.padEnd(9)} ${summary}`)
    .join('\n')
}
