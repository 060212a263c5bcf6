import { hostile } from '../hostile.ts'

export default hostile({
  code: `
    export const actions = { flood: () => 'x'.repeat(2e6) }
    export const hooks = { afterIncomingMessage: async ({ client }) => void (await client.callAction({ type: 'flood', input: {} })) }`,
  outcome: 'error',
  failure:
    /ApiError: The action 'flood' failed: The result has 2000002 characters of JSON, more than the 1048576 allowed$/,
})
