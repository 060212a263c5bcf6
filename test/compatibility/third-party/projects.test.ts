import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findProjects, nearestVersion } from './projects.ts'

const published = ['0.8.34', '0.10.9', '0.10.17', '0.8.20', '5.4.3']

test.each([
  ['0.8.20', '0.8.20'],
  ['0.8.21', '0.8.34'],
  ['0.8.40', '0.8.34'],
  ['0.10.10', '0.10.17'],
  ['0.9.1', '0.10.9'],
  ['4.15.2', '5.4.3'],
  ['6.0.0', '5.4.3'],
  ['', '5.4.3'],
])('a project for %s of the SDK is built with %s', (wanted, version) => {
  expect(nearestVersion(wanted, published)).toBe(version)
})

test('projects are folders with a definition and sources; packages of the publisher are left to the SDK', async () => {
  const source = await mkdtemp(join(tmpdir(), 'isobot-projects-'))
  try {
    const write = async (folder: string, files: Record<string, string>) => {
      await mkdir(join(source, folder, 'src'), { recursive: true })
      for (const [name, text] of Object.entries(files)) await writeFile(join(source, folder, name), text)
    }
    const dependencies = {
      '@botpress/sdk': '^0.8.20',
      '@botpress/client': '1.0.0',
      near: 'file:../near',
      zod: '^3.0.0',
    }
    const whole = { 'package.json': JSON.stringify({ dependencies }), 'src/index.ts': '' }
    await write('ada+tools/sheet', { ...whole, 'integration.definition.ts': '' })
    await write('ada+tools/page', whole)
    await write('ada+tools/node_modules/other', { ...whole, 'bot.definition.ts': '' })
    expect(await findProjects(source)).toEqual([
      {
        name: 'ada/tools/sheet',
        kind: 'integration',
        folder: join(source, 'ada+tools', 'sheet'),
        wanted: '0.8.20',
        dependencies: { zod: '^3.0.0' },
      },
    ])
  } finally {
    await rm(source, { recursive: true })
  }
})
