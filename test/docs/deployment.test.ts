import { access, glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DCLinter } from 'dclint'
import { validate } from 'dockerfile-utils'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig } from '#shared/config/config.ts'
import { root } from './blocks.ts'

interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string }
}

interface Probe {
  httpGet: { path: string; port: string }
}

interface Container {
  name: string
  command: string[]
  env?: { name: string; value: string }[]
  ports?: { name: string; containerPort: number }[]
  livenessProbe?: Probe
  readinessProbe?: Probe
}

const read = (path: string) => readFile(join(root, path), 'utf8')

/** Variables of a deployment that its own file does not set. */
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

test('compose.yaml passes all settings of .env to the processes of the platform', async () => {
  const { services } = parse(await read('compose.yaml'), { merge: true }) as {
    services: Record<string, { env_file?: object }>
  }
  for (const name of ['api', 'migrate', 'worker'])
    expect(services[name]?.env_file).toEqual([{ path: '.env', required: false }])
})

test('a proxy in compose.yaml reaches the api, and the log of every container is bounded', async () => {
  const { services } = parse(await read('compose.yaml'), { merge: true }) as {
    services: Record<string, { logging: { options: object }; volumes?: string[] }>
  }
  for (const [name, { logging }] of Object.entries(services)) {
    expect({ name, ...logging?.options }).toEqual({ name, 'max-size': '10m', 'max-file': '5' })
  }
  const [file = ''] = services['caddy']?.volumes?.[0]?.split(':') ?? []
  expect(await read(file)).toContain('reverse_proxy api:3000')
})

/** The class of a kind, which validates by its published schema. */
async function schemaOf({ apiVersion, kind }: Manifest): Promise<new (data: object) => { validate(): void }> {
  const library = apiVersion.startsWith('keda.sh/') ? '@kubernetes-models/keda' : 'kubernetes-models'
  return ((await import(`${library}/${apiVersion}`)) as Record<string, never>)[kind]!
}

test('the manifests for Kubernetes fit its published schemas, start programs that exist and probe addresses that answer', async () => {
  const files = await Array.fromAsync(glob('deploy/kubernetes/*.yaml', { cwd: root }))
  const documents = (await Promise.all(files.map(read))).flatMap((text) => parseAllDocuments(text))
  const manifests = documents.map((document) => document.toJS() as Manifest & Record<string, never>)
  expect(manifests.length).toBeGreaterThan(6)
  for (const manifest of manifests) {
    const Schema = await schemaOf(manifest)
    expect(() => new Schema(manifest).validate(), `${manifest.kind} ${manifest.metadata.name}`).not.toThrow()
  }
  const Deployment = await schemaOf({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: '' } })
  expect(() => new Deployment({ spec: { replicas: 'two' } }).validate()).toThrow('replicas')

  const settings = (manifests.find(({ kind }) => kind === 'ConfigMap') as unknown as { data: Record<string, string> })
    .data
  const pods = manifests.flatMap(
    ({ spec }) => (spec as { template?: { spec: object } } | undefined)?.template?.spec ?? [],
  )
  expect(pods).toHaveLength(2)
  for (const pod of pods as { containers: Container[]; initContainers: Container[] }[]) {
    for (const { command } of [...pod.initContainers, ...pod.containers]) await access(join(root, command[1]!))
    for (const container of pod.containers) {
      const own = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value]))
      const secrets = { ...given, ISOBOT_SECRET: anyValue, METRICS_TOKEN: anyValue }
      const config = readConfig({ ...settings, ...own, ...secrets })
      expect(container.ports).toEqual([
        expect.objectContaining({ containerPort: container.name === 'api' ? config.http.port : config.workerPort }),
      ])
      const port = container.ports![0]!.name
      expect(container.livenessProbe!.httpGet).toEqual({ path: '/healthz', port })
      expect(container.readinessProbe!.httpGet).toEqual({ path: '/readyz', port })
    }
  }
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
