// The official client, npm @modelcontextprotocol/client 2.x: both eras, over HTTP and standard input.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { check, useTools, withProgram, withServer } from './server.mjs';

const program = process.argv[2];

async function use(transport, mode, version) {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(transport);
    check(client.getNegotiatedProtocolVersion() === version, client.getNegotiatedProtocolVersion());
    const { tools } = await client.listTools();
    await useTools(tools, (name, args) => client.callTool({ name, arguments: args }));
    await client.close();
}

for (const [mode, version] of [['auto', '2026-07-28'], ['legacy', '2025-11-25']]) {
    await withServer(program, ['--allow-writes'], (address) =>
        use(new StreamableHTTPClientTransport(new URL(`${address}/mcp`)), mode, version));
    await withProgram(program, (start) => use(new StdioClientTransport(start), mode, version));
    console.log(`${mode}: ${version} over HTTP and standard input`);
}
