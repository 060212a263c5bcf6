// `node worker/main.ts` is the command of Procfiles from before `main.js`. It is a folder, so that an old Node reads this
// file and says which Node is needed; a TypeScript file of that name it would refuse with an error of its own.
void import('../main.js')
