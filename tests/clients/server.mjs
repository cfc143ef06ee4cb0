// `braid serve` for a test: on a free port of this machine, over a database that goes with it.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

function cleanEnvironment(folder) {
    const environment = { XDG_CONFIG_HOME: folder, BRAID_EMBEDDER: 'none' };
    for (const [key, value] of Object.entries(process.env)) {
        if (!key.startsWith('BRAID_') && key !== 'XDG_CONFIG_HOME') environment[key] = value;
    }
    return environment;
}

/** Calls work(address), and ends the server afterwards. */
export async function withServer(program, flags, work) {
    const folder = mkdtempSync(join(tmpdir(), 'braid_test_'));
    const server = spawn(
        program,
        ['serve', '--data', join(folder, 'data'), '--port', '0', '--log', 'none', ...flags],
        { cwd: folder, env: cleanEnvironment(folder), stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const ended = new Promise((resolve) => server.on('exit', resolve));
    try {
        const address = await new Promise((resolve, reject) => {
            ended.then(() => reject(new Error('the server did not start')));
            for (const stream of [server.stdout, server.stderr]) {
                createInterface({ input: stream }).on('line', (line) => {
                    const found = /http:\/\/[0-9.]+:\d+/.exec(line);
                    if (found) resolve(found[0]);
                });
            }
        });
        await work(address);
    } finally {
        server.kill('SIGTERM');
        await ended;
        rmSync(folder, { recursive: true, force: true });
    }
}

/** The program for a client that starts it itself, with a database of its own. */
export async function withProgram(program, work) {
    const folder = mkdtempSync(join(tmpdir(), 'braid_test_'));
    try {
        await work({
            command: program,
            args: ['mcp', '--data', join(folder, 'data'), '--allow-writes', '--quiet'],
            env: cleanEnvironment(folder),
        });
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}

export function check(condition, message) {
    if (!condition) throw new Error(message);
}

/** What any client must be able to do; `call(name, arguments)` gives a tool's result. */
export async function useTools(tools, call) {
    const names = tools.map((tool) => tool.name);
    check(names[0] === 'hybrid_search' && names.includes('forget'), `tools: ${names}`);
    const stored = await call('ingest', { document_id: 'fox', text: '# Foxes\n\nThey hunt at dusk.' });
    check(stored.structuredContent.chunks === 1, JSON.stringify(stored));
    const found = await call('hybrid_search', { query: 'dusk' });
    check(found.content[0].text.startsWith('Found 1 results (searched: artifact_chunks):'),
        found.content[0].text);
    check(found.structuredContent.results[0].artifact_id === 'fox', JSON.stringify(found));
    const wrong = await call('hybrid_search', { query: 7 });
    check(wrong.isError === true, JSON.stringify(wrong));
}
