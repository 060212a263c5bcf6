import { sdkBot, type TestSandbox } from '../../sandbox/fixture.ts'
import { runInIsolate, runInNode } from '../run-bundle.ts'

/** The answer of a wrapped test. */
export interface Told {
  skipped?: string
  problem?: { text: string; stack?: string; code?: string }
}

/** Runs a wrapped test in a process of Node that may read its program and nothing else. */
export async function tryInNode(code: string, folder: string, name: string): Promise<Told> {
  return (await runInNode(code, folder, name).catch(toTold)) as Told
}

/** Runs a wrapped test in an isolate, as the bundle of a bot. */
export async function tryInIsolate(code: string, sandbox: TestSandbox): Promise<Told> {
  const ran = await runInIsolate(sdkBot(code), sandbox).catch(toTold)
  if (!('body' in ran)) return ran
  const told = ran.body as Told
  const unhandled = ran.logs.find(({ message }) => message.startsWith('Unhandled rejection'))
  return unhandled && (told.problem?.text.startsWith('Error: called') ?? true)
    ? { problem: { text: unhandled.message } }
    : told
}

function toTold({ message }: Error): Told {
  return { problem: { text: message } }
}
