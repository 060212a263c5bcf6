import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCredentials } from '../../../cli/start/credentials.ts'

test('a start names damaged credentials with a remedy, and leaves their file and the secret as they are', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'isobot-credentials-'))
  const file = join(directory, 'credentials.json')
  try {
    const { secret } = await openCredentials(directory)
    for (const content of ['', '{"token":', 'null', '[]']) {
      await writeFile(file, content)
      await expect(openCredentials(directory)).rejects.toThrow(
        `${file} is not valid JSON: correct it, or remove it and start the platform again`,
      )
      expect(await readFile(file, 'utf8')).toBe(content)
    }
    await writeFile(file, '{"token":"former","botId":"bot"}')
    expect(await openCredentials(directory)).toMatchObject({ token: 'former', botId: 'bot', secret })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
