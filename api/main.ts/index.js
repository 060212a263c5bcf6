// Older Procfiles run `node api/main.ts`. `main.ts` is a folder, so that an old Node runs this file and reports which
// version is needed; it would refuse a TypeScript file with an error of its own.
void import('../main.js')
