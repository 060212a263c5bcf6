import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DCLinter } from 'dclint'
import { validate } from 'dockerfile-utils'
import { expect, test } from 'vitest'
import { readConfig } from '#shared/config/config.ts'
import { root } from './blocks.ts'

const read = (path: string) => readFile(join(root, path), 'utf8')

/** What a deployment is given beside what its own file sets. */
const given = { DATABASE_URL: 'postgres://host/name', REDIS_URL: 'rediss://host' }
const anyValue = `https://${'x'.repeat(64)}`

interface AppManifest {
  name: string
  env: Record<string, { description?: string; value?: string; generator?: string; required?: boolean }>
  formation: Record<string, { quantity: number; size: string }>
  addons: { plan: string }[]
}

test('the Dockerfile has no faults that a linter knows, and starts programs that are there', async () => {
  const dockerfile = await read('Dockerfile')
  expect(validate(dockerfile)).toEqual([])
  for (const [, program = ''] of dockerfile.matchAll(/"node", "([^"]+\.js)"/g)) await access(join(root, program))
  for (const [, name = ''] of dockerfile.matchAll(/npm run (\w+)/g)) {
    expect(JSON.parse(await read('package.json'))).toHaveProperty(['scripts', name])
  }
  // Nobody runs as root in it.
  expect(dockerfile.lastIndexOf('\nUSER node')).toBeGreaterThan(dockerfile.lastIndexOf('\nFROM '))
})

test('compose.yaml has no faults that a linter knows, and starts programs that are there', async () => {
  // In the order of what they are for is how people read them.
  const linter = new DCLinter({ rules: { 'service-keys-order': 0 }, quiet: false, debug: false, exclude: [] })
  const messages = linter
    .lintFiles([join(root, 'compose.yaml')], false)
    .flatMap(({ messages: found }: { messages: unknown[] }) => found)
  expect(messages).toEqual([])
  const compose = await read('compose.yaml')
  const programs = Array.from(compose.matchAll(/command: \[node, (.+)\]/g), ([, program]) => program!)
  expect(programs.toSorted()).toEqual(['api/main.js', 'migrations/migrate.js', 'worker/main.js'])
  for (const program of programs) await access(join(root, program))
})

test('compose.yaml and .env.example set only variables that the platform reads', async () => {
  const [compose, example] = await Promise.all([read('compose.yaml'), read('.env.example')])
  const block = /environment: &environment\n((?: {4}.*\n)+)/.exec(compose)?.[1] ?? ''
  const variables = Array.from(block.matchAll(/^ {4}(\w+): (.*)$/gm), ([, name, value]) => [name!, value!] as const)
  expect(variables.length).toBeGreaterThan(3)
  const environment = Object.fromEntries(
    variables.map(([name, value]) => [name, value.includes('${') ? anyValue : value]),
  )
  expect(() => readConfig({ ...environment, ...given })).not.toThrow()
  const explained = Array.from(example.matchAll(/^(?:# )?([A-Z_]+)=/gm), ([, name]) => name!)
  for (const [, name = ''] of compose.matchAll(/\$\{(\w+)/g)) expect(explained).toContain(name)
  const settings = await read('docs/settings.md')
  for (const name of explained.filter((each) => each !== 'POSTGRES_PASSWORD')) expect(settings).toContain(`\`${name}\``)
})

test('app.json is what Heroku understands, for processes that the Procfile has, with settings that the platform takes', async () => {
  const manifest = JSON.parse(await read('app.json')) as AppManifest
  const known = ['name', 'description', 'keywords', 'website', 'repository', 'logo', 'success_url', 'scripts', 'env']
  const others = ['formation', 'image', 'addons', 'buildpacks', 'environments', 'stack', 'features']
  expect([...known, ...others]).toEqual(expect.arrayContaining(Object.keys(manifest)))
  expect(manifest.name.length).toBeLessThanOrEqual(30)
  for (const { plan } of manifest.addons) expect(plan).toMatch(/^heroku-\w+:[\w-]+$/)

  const procfile = await read('Procfile')
  const processes = Array.from(procfile.matchAll(/^(\w+): node (\S+)$/gm), ([, name, program]) => ({ name, program }))
  expect(processes.map(({ name = '' }) => name).toSorted()).toEqual(
    ['release', ...Object.keys(manifest.formation)].toSorted(),
  )
  for (const { program } of processes) await access(join(root, program!))

  const settings = await read('docs/settings.md')
  for (const [name, { description = '' }] of Object.entries(manifest.env)) {
    expect({ name, description }).toEqual({ name, description: expect.stringMatching(/\w/) as string })
    expect(settings).toContain(`\`${name}\``)
  }
  const environment = Object.entries(manifest.env).map(([name, { value }]) => [name, value ?? anyValue])
  expect(() => readConfig({ ...given, ...Object.fromEntries(environment) })).not.toThrow()
})
