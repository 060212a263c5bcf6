import { hostile } from '../hostile.ts'

export default hostile({
  code: `
    export const hooks = { afterIncomingMessage() {} }
    });
    globalThis.escaped = true;
    (function () {`,
  outcome: 'refused',
  failure: /bot\.ts/,
})
