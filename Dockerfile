FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=1 go build -trimpath -buildvcs=false -ldflags "-s -w -buildid=" -o /out/fugu ./cmd/proxy

FROM debian:bookworm-slim
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/fugu /usr/local/bin/
RUN useradd --system --uid 10001 --no-create-home fugu && install -d -o fugu -m 700 /var/lib/fugu \
    /var/lib/operators
USER fugu
WORKDIR /var/lib/fugu
VOLUME /var/lib/fugu
EXPOSE 6432
HEALTHCHECK --interval=5s --timeout=5s --retries=12 CMD bash -c '</dev/tcp/127.0.0.1/6432'
ENTRYPOINT ["fugu"]
CMD ["serve", "-c", "/etc/fugu/fugu.yaml"]
