import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPages, root, type Block } from './blocks.ts'

const examples = (await readPages()).flatMap(({ blocks }) =>
  blocks.filter(({ language, kind = '' }) => language === 'ts' && /^(bot|integration)\b/.test(kind)),
)

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'isobot-docs-types-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/**
 * Checks examples as the project of one author's bot.
 *
 * @returns what the compiler says, with places in the pages; empty when it is content
 */
async function check(name: string, blocks: Block[]): Promise<string> {
  const project = join(directory, name)
  await mkdir(project)
  const template = await readFile(join(root, 'templates', 'bot', 'tsconfig.json'), 'utf8')
  const { compilerOptions } = JSON.parse(template) as { compilerOptions: object }
  const paths = { 'isobot/bot': [join(root, 'bot', 'index.d.ts')] }
  const settings = { compilerOptions: { ...compilerOptions, paths }, include: ['*.ts'] }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(settings))
  for (const { place, text } of blocks) await writeFile(join(project, `${place.replaceAll('/', '~')}.ts`), text)
  const compiler = join(root, 'node_modules', '.bin', 'tsc')
  const compile = promisify(execFile)(compiler, ['--pretty', 'false', '--project', project], { cwd: project })
  return compile.then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  )
}

const declares = ({ text }: Block) => text.includes('declare module')

test('the TypeScript examples have the types that authors get', async () => {
  expect(examples.length).toBeGreaterThan(8)
  // The declarations of one example about its bot would apply to the others.
  const groups = [examples.filter((block) => !declares(block)), ...examples.filter(declares).map((block) => [block])]
  const said = await Promise.all(groups.map((blocks, index) => check(String(index), blocks)))
  expect(said.join('')).toBe('')
})
