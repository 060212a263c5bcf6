import { afterAll, beforeAll, expect, test } from 'vitest'
import { installing, openConsole, patience } from './open-console.ts'

type Console = Awaited<ReturnType<typeof openConsole>>

const parts = new AsyncDisposableStack()
let open: Console
beforeAll(async () => {
  open = await openConsole(parts, /monaco/i)
}, installing)
afterAll(() => parts.disposeAsync())

const files = {
  '../src/words.ts': 'export const word: string = "hello"\n',
  '../node_modules/left-pad/index.js': 'module.exports = 1\n',
  '../src/index.ts': 'import { word } from "./words.ts"\nexport const hooks = { afterTurnEnd: () => word }\n',
}

test(
  'the Code tab shows the files that a bundle was made of, one at a time, to be read',
  { timeout: 120_000 },
  async () => {
    const { platform, page } = open
    const sourceMap = JSON.stringify({
      version: 3,
      sources: Object.keys(files),
      sourcesContent: Object.values(files),
      names: [],
      mappings: '',
    })
    const code = 'const w = "hello"\nexport const hooks = { afterTurnEnd: () => w }\n'
    const { body } = await platform.ask('POST', '/v1/admin/bots', { name: 'bundled', code, sourceMap })
    const version = `/v1/admin/bots/${body.bot.id}/versions/${body.bot.version.id}`
    expect((await platform.ask('GET', version)).body.version.files).toEqual([
      { path: 'src/words.ts', content: files['../src/words.ts'] },
      { path: 'src/index.ts', content: files['../src/index.ts'] },
    ])

    await page.goto(`${platform.url}/console`)
    await page.getByLabel('Token').fill(platform.token)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'bundled' }).first().click()
    await page.getByRole('link', { name: 'Code' }).click()
    const list = page.getByRole('navigation', { name: 'Files' })
    await expect
      .poll(() => list.getByRole('button').allTextContents(), patience)
      .toEqual(['src/index.ts', 'src/words.ts'])
    const shown = () => page.locator('.editor .view-lines').innerText()
    await expect.poll(shown, patience).toContain('afterTurnEnd')
    await list.getByRole('button', { name: 'src/words.ts' }).click()
    await expect.poll(shown, patience).toContain('export')
    await expect.poll(shown, patience).not.toContain('afterTurnEnd')
    expect(await page.getByRole('button', { name: 'Deploy' }).count()).toBe(0)
  },
)
