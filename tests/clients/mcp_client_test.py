"""The official client, PyPI `mcp` 2.x: both eras, over HTTP with and without keys."""

import asyncio
import json
import pathlib
import subprocess
import sys
import tempfile

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from server import serve


async def use(client: Client, version: str) -> None:
    assert client.protocol_version == version, client.protocol_version
    names = [tool.name for tool in (await client.list_tools()).tools]
    assert names[0] == "hybrid_search" and "remember" in names, names
    stored = await client.call_tool(
        "ingest", {"document_id": "fox", "text": "# Foxes\n\nThey hunt at dusk."})
    assert stored.structured_content["chunks"] == 1, stored
    found = await client.call_tool("hybrid_search", {"query": "dusk"})
    assert found.content[0].text.startswith("Found 1 results (searched: artifact_chunks):"), found
    assert found.structured_content["results"][0]["artifact_id"] == "fox", found
    wrong = await client.call_tool("get", {"collection": "artifact_chunks"})
    assert wrong.is_error and "chunk_ids" in wrong.content[0].text, wrong
    try:
        await client.call_tool("nothing", {})
        raise AssertionError("an unknown tool must be a protocol error")
    except MCPError as error:
        assert "nothing" in str(error), error


async def open_server(address: str) -> None:
    for mode, version in (("auto", "2026-07-28"), ("legacy", "2025-11-25")):
        async with Client(f"{address}/mcp", mode=mode) as client:
            await use(client, version)
        print(f"{mode}: {version}")


async def keyed_server(address: str, key: str) -> None:
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http:
        async with Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client:
            found = await client.call_tool("hybrid_search", {"query": "fox"})
            assert found.is_error and "missing" in found.content[0].text, found
            mine = await client.call_tool("list_collections", {})
            assert mine.structured_content == {"collections": []}, mine
    async with httpx2.AsyncClient() as http:
        refused = await http.post(f"{address}/mcp", json={})
        assert refused.status_code == 401, refused
    print("with a key")


def main() -> None:
    program = sys.argv[1]
    with serve(program, "--allow-writes") as address:
        asyncio.run(open_server(address))
    with tempfile.TemporaryDirectory(prefix="braid_test_") as folder:
        keys = pathlib.Path(folder) / "keys.json"
        made = subprocess.run(
            [program, "keys", "add", "agent", "--file", str(keys), "--grant", "notes=read",
             "--json"],
            check=True, capture_output=True, text=True)
        with serve(program, "--key-file", str(keys)) as address:
            asyncio.run(keyed_server(address, json.loads(made.stdout)["key"]))


if __name__ == "__main__":
    main()
