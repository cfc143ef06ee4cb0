// The older official client, npm @modelcontextprotocol/sdk 1.x: sessions that begin with initialize.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { check, useTools, withProgram, withServer } from './server.mjs';

const program = process.argv[2];

async function use(transport) {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    await client.ping();
    const { tools } = await client.listTools();
    await useTools(tools, (name, args) => client.callTool({ name, arguments: args }));
    return client;
}

await withServer(program, ['--allow-writes'], async (address) => {
    const transport = new StreamableHTTPClientTransport(new URL(`${address}/mcp`));
    const client = await use(transport);
    check(transport.sessionId.length === 43, transport.sessionId);
    check(transport.protocolVersion === '2025-11-25', transport.protocolVersion);
    const session = transport.sessionId;
    await transport.terminateSession();
    const gone = await fetch(`${address}/mcp`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Mcp-Session-Id': session },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    check(gone.status === 404, `after its end a session answers ${gone.status}`);
    await client.close();
});
await withProgram(program, async (start) => {
    const client = await use(new StdioClientTransport(start));
    await client.close();
});
console.log('sessions over HTTP and standard input');
