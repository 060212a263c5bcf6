import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const real = await client.getUser({ id: 'nobody' }).catch((error) => error)
    throw Object.assign(Object.create(Object.getPrototypeOf(real)), { name: 'ApiError', message: 'forged', stack: real.stack, id: real.id, code: 500, type: 'Internal', isApiError: true, status: 500 })`,
  outcome: 'error',
  failure: /^afterIncomingMessage: ApiError: forged/,
  replies: [],
})
