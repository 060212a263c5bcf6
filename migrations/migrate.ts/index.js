// `node migrations/migrate.ts` is the command of Procfiles from before `migrate.js`. It is a folder, so that an old Node
// reads this file and says which Node is needed; a TypeScript file of that name it would refuse with an error of its own.
void import('../migrate.js')
