import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'

const runProcess = JSON.stringify(new URL('../../../shared/process/process.ts', import.meta.url).href)
const environment = {
  DATABASE_URL: 'postgres://localhost/none',
  ISOBOT_SECRET: 'a-secret-that-is-long-enough-for-tests-0123456789',
  ISOBOT_BASE_URL: 'http://localhost:3000',
  LOG_LEVEL: 'silent',
}

test('a process that has stopped ends even with open handles', async () => {
  const source = `
    const { runProcess } = await import(${runProcess})
    await runProcess('api', async () => {
      setInterval(() => {}, 1000)
      console.log('open')
      return { async [Symbol.asyncDispose]() {} }
    })`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', source], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})
