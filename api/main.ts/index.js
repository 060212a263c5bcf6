// Older Procfiles run `node api/main.ts`. `main.ts` is a folder, so that an old Node loads this file and the message
// names the required version; a TypeScript file would fail with an unrelated error.
void import('../main.js')
