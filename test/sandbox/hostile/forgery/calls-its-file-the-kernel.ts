import { hostile } from '../hostile.ts'

/** Names of files and maps of sources are words of the author, and nobody opens what they name. */
export default hostile({
  body: `
    const named = (0, eval)('(function inKernel() { throw new Error("from a file that is called as it likes") })\\n//# sourceURL=kernel\\n//# sourceMappingURL=file:' + '///etc/passwd')
    named()
    //# sourceURL=/etc/passwd
    //# sourceMappingURL=/etc/passwd`,
  outcome: 'error',
  failure: /Error: from a file/,
  never: /root:|inKernel/,
})
