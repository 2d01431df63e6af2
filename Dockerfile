# `docker build -t chapterverse .`, then
# `docker run -e CHAPTERVERSE_API_KEY=… -p 127.0.0.1:8080:8080 -v books:/data chapterverse`.
# Indexes are kept in /data; set QDRANT_URL to keep them on a Qdrant server instead (see compose.yaml).

FROM python:3.12-slim AS build
WORKDIR /src
COPY requirements/build.txt requirements/
RUN pip install --no-cache-dir --require-hashes -r requirements/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels .

FROM python:3.12-slim
COPY requirements/runtime.txt /tmp/
RUN pip install --no-cache-dir --require-hashes -r /tmp/runtime.txt && rm /tmp/runtime.txt
RUN --mount=from=build,source=/wheels,target=/wheels pip install --no-cache-dir --no-deps /wheels/*.whl

RUN useradd --create-home reader && install --directory --owner=reader /data
USER reader
VOLUME /data
# Others can reach a container: without CHAPTERVERSE_API_KEY it says so and does not start.
ENV CHAPTERVERSE_HOME=/data CHAPTERVERSE_HOST=0.0.0.0
EXPOSE 8080
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f\"http://127.0.0.1:{os.environ.get('CHAPTERVERSE_PORT', 8080)}/health\")"]
ENTRYPOINT ["chapterverse"]
CMD ["serve"]
