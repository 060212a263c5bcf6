import { createServer } from 'node:http'

/** The floor of uploads: reads a body and keeps nothing of it. */
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.end())
})
server.listen(Number(process.env.PORT), '127.0.0.1')
